#include "ir/regions.h"

#include <set>

namespace alloy::ir {
namespace {

constexpr RegionRow kPlain[] = {{}, {}};
constexpr RegionRow kBeforeAndAfter[] = {{.own_results = 1}, {}};  // the predicate
constexpr RegionRow kBody[] = {{.own_arguments = 1}};              // the index

void add_assigned(const Op& op, std::set<int64_t>& slots) {
  if (op.code == OpCode::assign) slots.insert(op.operands[0].op->attributes.integer(Attr::kSlot));
  for (const auto& region : op.regions) {
    for (const auto& inner : region->ops) add_assigned(*inner, slots);
  }
}

}  // namespace

Regions regions_of(OpCode code) {
  switch (code) {
    case OpCode::fused: return {Run::kOnce, 0, std::span(kPlain).first(1)};
    case OpCode::if_else: return {Run::kEither, 1, kPlain};
    case OpCode::while_loop: return {Run::kAlternately, 0, kBeforeAndAfter};
    case OpCode::for_loop: return {Run::kCounted, 3, kBody};
    default: return {};
  }
}

std::vector<Type> argument_types(OpCode code, const std::vector<Value>& operands,
                                 std::span<const std::unique_ptr<Block>> before) {
  const Regions regions = regions_of(code);
  std::vector<Type> types;
  if (!regions.is_loop()) return types;
  const auto own = static_cast<size_t>(regions.rows[before.size()].own_arguments);
  for (size_t i = 0; i < own; ++i) types.push_back({operands[i].dtype(), Shape()});
  const std::vector<Value>& handed = before.empty() ? operands : before.back()->results;
  const size_t first =
      before.empty() ? regions.own_operands : static_cast<size_t>(regions.rows[before.size() - 1].own_results);
  for (size_t i = first; i < handed.size(); ++i) types.push_back(handed[i].type());
  return types;
}

std::vector<int64_t> assigned_slots(const Op& op) {
  std::set<int64_t> slots;
  add_assigned(op, slots);
  return {slots.begin(), slots.end()};
}

}  // namespace alloy::ir
