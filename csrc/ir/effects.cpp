// Effects into values: what a run reads and leaves behind in the variables, as operands and results.
#include <map>
#include <optional>
#include <tuple>

#include "ir/graph.h"
#include "ir/rewrite.h"

namespace alloy::ir {
namespace {

using Replacement = std::optional<std::vector<Value>>;

// Follows the value of every variable through the ops in their order.
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
    if (op.code == OpCode::if_else) return replace_branches(r, op, operands);
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

  // Each branch gives, beside its results, the value of every variable that one of them assigns.
  Replacement replace_branches(Rewriter& r, const Op& op, const std::vector<Value>& operands) {
    const State before = state_;
    Graph& copy = r.copy();
    const auto label = std::tuple(copy.name, copy.location, copy.after);
    // A negative zero is zero, but not byte by byte.
    const bool floating = kind(operands[0].dtype()) == DTypeKind::kFloating;
    const Value predicate =
        floating ? copy.value(OpCode::cast, operands, {{Attr::kDtype, DType::boolean}}) : operands[0];
    std::vector<std::unique_ptr<Block>> regions;
    std::vector<State> after;
    for (const auto& region : op.regions) {
      state_ = before;
      r.copy().open_region();
      regions.push_back(r.copy().close_region(r.copy_block(*region)));
      after.push_back(state_);
    }
    state_ = before;
    State changed;
    for (const State& state : after) {
      for (const auto& [slot, value] : state) {
        if (!before.contains(slot) || before.at(slot) != value) changed[slot] = {};
      }
    }
    for (size_t i = 0; i < regions.size(); ++i) {
      for (const auto& [slot, unset] : changed) {
        const auto known = after[i].find(slot);
        regions[i]->results.push_back(known == after[i].end() ? variables_.at(slot) : known->second);
      }
    }
    std::tie(copy.name, copy.location, copy.after) = label;
    Op* made = copy.add(OpCode::if_else, {predicate}, {}, std::move(regions));
    std::vector<Value> results;
    for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back({made, i});
    uint32_t next = static_cast<uint32_t>(op.results.size());
    for (const auto& [slot, unset] : changed) state_[slot] = {made, next++};
    return results;
  }

  State variables_;  // by slot, their values at the start of the run
  State state_;      // the last value assigned to each that was
};

}  // namespace

Pure remove_effects(const Graph& graph) { return EffectRemover().run(graph); }

}  // namespace alloy::ir
