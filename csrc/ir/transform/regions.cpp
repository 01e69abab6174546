#include "ir/transform/regions.h"

#include <algorithm>
#include <set>

namespace alloy::ir {
namespace {

void add_assigned(const Op& op, std::set<int64_t>& slots) {
  if (op.info().facts.effect) slots.insert(op.operands[0].op->attributes.integer(Attr::kSlot));
  for (const auto& region : op.regions) {
    for (const auto& inner : region->ops) add_assigned(*inner, slots);
  }
}

}  // namespace

std::vector<Type> argument_types(OpCode code, const std::vector<Value>& operands,
                                 std::span<const std::unique_ptr<Block>> before, const Attributes& attributes) {
  const Regions& regions = info(code).facts.regions;
  std::vector<Type> types;
  if (regions.run == RegionRun::kBackwards) {
    const auto count = std::min(static_cast<size_t>(attributes.integer(Attr::kCount)), operands.size());
    for (size_t i = 0; i < count; ++i) types.push_back(operands[i].type());
  }
  if (!regions.is_loop()) return types;
  const size_t own = regions.own_arguments[before.size()];
  for (size_t i = 0; i < own; ++i) types.push_back({operands[i].dtype(), Shape()});
  const std::vector<Value>& handed = before.empty() ? operands : before.back()->results;
  const size_t first = before.empty() ? regions.own_operands : regions.own_results[before.size() - 1];
  for (size_t i = first; i < handed.size(); ++i) types.push_back(handed[i].type());
  return types;
}

std::vector<int64_t> assigned_slots(const Op& op) {
  std::set<int64_t> slots;
  add_assigned(op, slots);
  return {slots.begin(), slots.end()};
}

}  // namespace alloy::ir
