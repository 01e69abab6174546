// Copies of graphs that differ from them: by any rule, for given feeds, or without effects.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The values that stand for an op's results in a copy (an empty list for an op without results that is dropped), or
// nothing: the op is copied, its regions too, and its types are inferred anew; it keeps its slot, name and location.
using Replacement = std::optional<std::vector<Value>>;

// For rules: a constant of one number, and a value in another type.
inline Value constant(Graph& graph, const Type& type, double number) {
  return graph.value(OpCode::constant, {}, {{Attr::kValue, Literal::splat(type, number)}});
}
inline Value cast(Graph& graph, Value v, DType dtype) {
  return graph.value(OpCode::cast, {v}, {{Attr::kDtype, dtype}});
}

// Makes a copy of a graph op by op, of what its results and effects need.
class Rewriter {
 public:
  using Rule = std::function<Replacement(Rewriter&, const Op&, const std::vector<Value>& operands)>;

  explicit Rewriter(Rule rule) : rule_(std::move(rule)) {}

  // The copy of what `results` and `effects` of one block need; its body's results and effects correspond to them.
  std::unique_ptr<Graph> run(const std::vector<Value>& results, const std::vector<Op*>& effects);
  std::unique_ptr<Graph> run(const Graph& graph) { return run(graph.body().results, graph.body().effects); }

  // For rules: the copy under construction, what stands for a value in it, and the contents of a block copied to where
  // ops go now.
  Graph& copy() { return *copy_; }
  Value mapped(Value from) const;
  // Opens the copy of a region with arguments of these types, the first of which stand for the region's own, and
  // returns them all.
  std::vector<Value> open_copy(const Block& region, const std::vector<Type>& arguments);
  // Copies of the op's regions, given its new operands: the types of the regions' arguments follow from those.
  std::vector<std::unique_ptr<Block>> copy_regions(const Op& op, const std::vector<Value>& operands);
  // Gives the ops added next the name, the place and the `after` of this op.
  void label_as(const Op& op);
  // The op itself over these operands and regions.
  std::vector<Value> add_over(const Op& op, std::vector<Value> operands, std::vector<std::unique_ptr<Block>> regions);
  // The same with copies of its regions, as where a rule gives nothing.
  std::vector<Value> copy_over(const Op& op, std::vector<Value> operands);
  std::vector<Value> copy_block(const Block& block) { return copy_block(&block, block.results, block.effects); }
  // Results of counted loops, which nothing uses, that copies go without: what they would stack.
  void drop(std::unordered_set<Value, ValueHash> results) { dropped_ = std::move(results); }

 private:
  std::vector<Value> copy_block(const Block* block, const std::vector<Value>& results, const std::vector<Op*>& effects);
  std::vector<Op*> mapped(const std::vector<Op*>& effects) const;
  void copy_op(const Op& op);

  // What stands for an op: its copy, if there is one, and its first result. By id, because hashing costs more than all
  // of the rest.
  struct Entry {
    const Op* of = nullptr;
    Op* copy = nullptr;
    Value first = {};
  };
  Entry& entry(const Op& op);
  const Entry* find(const Op& op) const {
    return op.id < entries_.size() && entries_[op.id].of == &op ? &entries_[op.id] : nullptr;
  }
  void stand_for(Value from, Value to);

  Rule rule_;
  std::unique_ptr<Graph> copy_;
  std::vector<Entry> entries_;
  ValueMap<Value> others_;  // what stands for results but the first
  std::unordered_set<Value, ValueHash> dropped_;
};

// Adds a copy of the op, its regions too, over what `values` has for all that it uses, and notes its results there.
Op* copy_into(Graph& graph, const Op& op, ValueMap<Value>& values);

// A copy of what `results` and `effects` need, with the feeds' types replaced by the given ones and every other type
// inferred anew. The new body's results and effects correspond to the given ones, and its ops to those that are needed,
// one by one. `feeds` must name every placeholder reached; throws Error otherwise, and where a type does not fit its
// placeholder. Each feed has a placeholder in the copy, used or not.
struct Feed {
  Value placeholder;
  Type type;
};
struct Specialized {
  std::unique_ptr<Graph> graph;
  std::vector<Value> feeds;
  std::vector<int64_t> slots;  // of the variables that occur, ascending
};
// Throws Error where the feed is not of a placeholder, or of another type than the placeholder allows.
void require_fits(const Feed& feed);
Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects);
// The same, except that it throws nothing but lists every mistake: a placeholder then keeps its type, and `empty`
// values of unknown shape take the place of an op.
Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects, std::vector<std::string>& problems);

// Replaces a specialised graph by what `pass` makes of it. During the pass the feeds are extra results, before all
// others, so that the pass keeps their placeholders.
void carry_feeds(Specialized& special, const std::function<std::unique_ptr<Graph>(const Graph&)>& pass);

// So many steps, one after the other, as one computation: every feed and every result has one more axis, the first,
// with an entry for each step, and a step reads what the step before has assigned.
Specialized repeat(Specialized step, int64_t steps);

// A graph without effects: reads become the values they see, and the last value assigned to each variable is one more
// result, `slots[i]` naming the variable of the i-th of those. Operands that are a variable keep meaning its value at
// the start of the run.
struct Pure {
  std::unique_ptr<Graph> graph;
  std::vector<int64_t> slots;
};
Pure remove_effects(const Graph& graph);

// A graph whose counted loops stack nothing, but carry what others stack, of which each iteration writes a row. Throws
// Error for a stack of unknown shape.
std::unique_ptr<Graph> carry_stacks(const Graph& graph);

}  // namespace alloy::ir
