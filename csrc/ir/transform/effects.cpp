// Turns effects into values: the variables that a run reads and assigns become operands and results.
#include <map>
#include <optional>

#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {
namespace {

// Follows the value of every variable through the ops, in their order.
class EffectRemover {
 public:
  Pure run(const Graph& graph) {
    Pure out;
    Rewriter rewriter(
        [this](Rewriter& r, const Op& op, const std::vector<Value>& operands) { return replace(r, op, operands); });
    out.graph = rewriter.run(graph);
    for (const auto& [slot, value] : state_) {
      out.slots.push_back(slot);
      out.graph->body().results.push_back(value);
    }
    return out;
  }

 private:
  using State = std::map<int64_t, Value>;

  Replacement replace(Rewriter& r, const Op& op, const std::vector<Value>& operands) {
    if (op.code == OpCode::variable) {
      const int64_t slot = op.attributes.integer(Attr::kSlot);
      Value& variable = variables_[slot];
      if (!variable) variable = r.copy().value(OpCode::variable, {}, op.attributes);
      return {{variable}};
    }
    if (!op.regions.empty()) return replace_regions(r, op, operands);
    if (op.code != OpCode::read_variable && op.code != OpCode::assign) return std::nullopt;
    const int64_t slot = operands[0].op->attributes.integer(Attr::kSlot);
    if (op.code == OpCode::assign) {
      state_[slot] = operands[1];
      return std::vector<Value>{};
    }
    return {{current(slot)}};
  }

  Value current(int64_t slot) const {
    const auto known = state_.find(slot);
    return known == state_.end() ? variables_.at(slot) : known->second;
  }

  // Each region also returns the value of every variable that one of them assigns. A loop carries these values; they
  // come before its stacked ones.
  Replacement replace_regions(Rewriter& r, const Op& op, std::vector<Value> operands) {
    const Regions& regions = op.info().facts.regions;
    const std::vector<int64_t> slots = assigned_slots(op);
    const State before = state_;
    if (regions.run == RegionRun::kEither) operands[0] = truth(r.copy(), operands[0]);
    const size_t own_results =
        regions.run == RegionRun::kCounted ? operands.size() - regions.own_operands : op.results.size();
    if (regions.is_loop()) {
      for (int64_t slot : slots) operands.push_back(current(slot));
    }
    std::vector<std::unique_ptr<Block>> copies;
    for (const auto& region : op.regions) {
      state_ = before;
      const std::vector<Value> arguments =
          r.open_copy(*region, argument_types(op.code, operands, copies, op.attributes));
      for (size_t i = region->arguments.size(); i < arguments.size(); ++i) {
        state_[slots[i - region->arguments.size()]] = arguments[i];
      }
      std::vector<Value> results = r.copy_block(*region);
      if (regions.run == RegionRun::kAlternately && copies.empty()) results[0] = truth(r.copy(), results[0]);
      auto at = regions.run == RegionRun::kCounted ? results.begin() + static_cast<long>(own_results) : results.end();
      for (int64_t slot : slots) at = results.insert(at, current(slot)) + 1;
      copies.push_back(r.copy().close_region(std::move(results)));
    }
    state_ = before;
    r.label_as(op);
    Op* made = r.copy().add(op.code, std::move(operands), op.attributes, std::move(copies));
    std::vector<Value> results;
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      results.push_back({made, i < own_results ? i : i + static_cast<uint32_t>(slots.size())});
    }
    uint32_t next = static_cast<uint32_t>(own_results);
    for (int64_t slot : slots) state_[slot] = {made, next++};
    return results;
  }

  // Casts a floating predicate to bool: a negative zero is false, but not all its bytes are zero.
  static Value truth(Graph& copy, Value predicate) {
    if (kind(predicate.dtype()) != DTypeKind::kFloating) return predicate;
    return copy.value(OpCode::cast, {predicate}, {{Attr::kDtype, DType::boolean}});
  }

  State variables_;  // by slot, the values at the start of the run
  State state_;      // by slot, the last assigned values
};

}  // namespace

Pure remove_effects(const Graph& graph) { return EffectRemover().run(graph); }

}  // namespace alloy::ir
