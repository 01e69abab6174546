// Makes several steps one computation.
#include <algorithm>

#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {
namespace {

// A loop over the steps. It carries the variables that a step assigns, takes each step's feeds from stacked feeds, and
// stacks the results.
class Repeater {
 public:
  Specialized run(Specialized special, int64_t steps) {
    carry_feeds(special, [this](const Graph& graph) {
      Pure pure = remove_effects(graph);
      slots_ = std::move(pure.slots);
      return std::move(pure.graph);
    });
    step_ = &special.graph->body();
    Specialized out;
    out.slots = special.slots;
    out.graph = std::move(made_);
    Graph& graph = *out.graph;
    std::vector<Value> stacks;
    for (const Value& feed : special.feeds) {
      graph.name = feed.op->name;
      Dims dims = {steps};
      dims.insert(dims.end(), feed.shape().dims().begin(), feed.shape().dims().end());
      stacks.push_back(
          graph.value(OpCode::placeholder, {}, {{Attr::kShape, Shape(dims)}, {Attr::kDtype, feed.dtype()}}));
    }
    graph.name.clear();
    out.feeds = stacks;
    const auto number = [&](double value) {
      return graph.value(OpCode::constant, {}, {{Attr::kValue, Literal::splat({DType::int32, Shape()}, value)}});
    };
    std::vector<Value> operands = {number(0), number(static_cast<double>(steps)), number(1)};
    find_variables(graph);
    for (int64_t slot : slots_) operands.push_back(variables_.at(slot));
    std::vector<std::unique_ptr<Block>> regions;
    const std::vector<Value> arguments = graph.open_region(argument_types(OpCode::for_loop, operands, regions));
    for (size_t i = 0; i < stacks.size(); ++i) {
      values_[special.feeds[i]] = graph.value(OpCode::gather, {stacks[i], arguments[0]},
                                              {{Attr::kAxis, int64_t{0}}, {Attr::kBatchDims, int64_t{0}}});
    }
    for (size_t i = 0; i < slots_.size(); ++i) now_[slots_[i]] = arguments[i + 1];
    for (const auto& op : step_->ops) copy(graph, *op);
    const size_t fetched = step_->results.size() - slots_.size();
    std::vector<Value> results;
    for (size_t i = fetched; i < step_->results.size(); ++i) results.push_back(values_.at(step_->results[i]));
    for (size_t i = 0; i < fetched; ++i) results.push_back(values_.at(step_->results[i]));
    regions.push_back(graph.close_region(std::move(results)));
    graph.name.clear();
    graph.location.clear();
    graph.typed.clear();
    Op* loop = graph.add(OpCode::for_loop, std::move(operands), {}, std::move(regions));
    uint32_t next = 0;
    for (int64_t slot : slots_) {
      graph.body().effects.push_back(graph.add(OpCode::assign, {variables_.at(slot), loop->result(next++)}));
    }
    for (size_t i = 0; i < fetched; ++i) graph.body().results.push_back(loop->result(next++));
    return out;
  }

 private:
  void find_variables(Graph& graph) {
    for (const auto& op : step_->ops) {
      if (op->code != OpCode::variable) continue;
      graph.label_as(*op);
      variables_[op->attributes.integer(Attr::kSlot)] = graph.value(OpCode::variable, {}, op->attributes);
    }
  }

  void copy(Graph& graph, const Op& op) {
    if (op.code == OpCode::placeholder) return;
    if (op.code == OpCode::variable) {
      const int64_t slot = op.attributes.integer(Attr::kSlot);
      const auto now = now_.find(slot);
      values_[op.result()] = now != now_.end() ? now->second : variables_.at(slot);
      return;
    }
    copy_into(graph, op, values_);
  }

  std::unique_ptr<Graph> made_ = std::make_unique<Graph>();
  const Block* step_ = nullptr;
  std::vector<int64_t> slots_;                    // of the variables that a step assigns
  std::unordered_map<int64_t, Value> variables_;  // by slot, before the first step
  std::unordered_map<int64_t, Value> now_;        // by slot, before the current step, of the assigned variables
  ValueMap<Value> values_;
};

}  // namespace

Specialized repeat(Specialized step, int64_t steps) { return Repeater().run(std::move(step), steps); }

}  // namespace alloy::ir
