// Copies of graphs with changes: by any rule, for given feeds, or without effects.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The values that replace an op's results in a copy; an empty list drops an op without results. Nothing means that the
// op is copied with its regions, slot, name and location, and its types are inferred anew.
using Replacement = std::optional<std::vector<Value>>;

// For rules: a constant of one number, and a value cast to another type.
inline Value constant(Graph& graph, const Type& type, double number) {
  return graph.value(OpCode::constant, {}, {{Attr::kValue, Literal::splat(type, number)}});
}
inline Value cast(Graph& graph, Value v, DType dtype) {
  return graph.value(OpCode::cast, {v}, {{Attr::kDtype, dtype}});
}

// Copies a graph, op by op, as far as its results and effects need.
class Rewriter {
 public:
  using Rule = std::function<Replacement(Rewriter&, const Op&, const std::vector<Value>& operands)>;

  explicit Rewriter(Rule rule) : rule_(std::move(rule)) {}

  // Copies the ops that `results` and `effects` of one block need; the body's results and effects correspond to them.
  std::unique_ptr<Graph> run(const std::vector<Value>& results, const std::vector<Op*>& effects);
  std::unique_ptr<Graph> run(const Graph& graph) { return run(graph.body().results, graph.body().effects); }

  // For rules: the copy under construction, the value that replaces `from` in it, and a block copied into the current
  // one.
  Graph& copy() { return *copy_; }
  Value mapped(Value from) const;
  // Opens the copy of a region with arguments of these types and returns them all; the first ones replace the region's
  // own arguments.
  std::vector<Value> open_copy(const Block& region, const std::vector<Type>& arguments);
  // Copies the op's regions for its new operands, which determine the types of the regions' arguments.
  std::vector<std::unique_ptr<Block>> copy_regions(const Op& op, const std::vector<Value>& operands);
  // Gives the ops added next the name, location, `after` and precision of this op.
  void label_as(const Op& op);
  // Copies the op over these operands and regions.
  std::vector<Value> add_over(const Op& op, std::vector<Value> operands, std::vector<std::unique_ptr<Block>> regions);
  // The same with copies of the op's regions, as for an op that the rule does not replace.
  std::vector<Value> copy_over(const Op& op, std::vector<Value> operands);
  std::vector<Value> copy_block(const Block& block) { return copy_block(&block, block.results, block.effects); }
  // Sets the stacked results of counted loops that copies leave out because nothing uses them.
  void drop(std::unordered_set<Value, ValueHash> results) { dropped_ = std::move(results); }

 private:
  std::vector<Value> copy_block(const Block* block, const std::vector<Value>& results, const std::vector<Op*>& effects);
  std::vector<Op*> mapped(const std::vector<Op*>& effects) const;
  void copy_op(const Op& op);

  // The replacement of an op: its copy, if there is one, and its first result. Found by id, since hashing would take
  // longer than all other work.
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
  ValueMap<Value> others_;  // replacements of further results
  std::unordered_set<Value, ValueHash> dropped_;
};

// Adds a copy of the op and its regions. `values` holds the copies of all values that it uses, and receives its
// results.
Op* copy_into(Graph& graph, const Op& op, ValueMap<Value>& values);

// A copy of the ops that `results` and `effects` need, with the feeds' types given and all other types inferred anew.
// The new body's results and effects correspond to the given ones, and its ops one by one to the needed ops. Each feed
// has a placeholder in the copy, used or not. Throws Error if a needed placeholder is missing in `feeds`, or if a type
// does not fit its placeholder.
struct Feed {
  Value placeholder;
  Type type;
};
struct Specialized {
  std::unique_ptr<Graph> graph;
  std::vector<Value> feeds;
  std::vector<int64_t> slots;  // of the variables used, ascending
};
// Throws Error if the feed is not of a placeholder, or has a type that the placeholder does not allow.
void require_fits(const Feed& feed);
Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects);
// The same, but lists every mistake instead of throwing: a wrongly fed placeholder keeps its type, and `empty` values
// of unknown shape replace an illegal op.
Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects, std::vector<std::string>& problems);

// Replaces a specialised graph by `pass`'s copy. During the pass the feeds are extra results, before all others, so
// that the pass keeps their placeholders.
void carry_feeds(Specialized& special, const std::function<std::unique_ptr<Graph>(const Graph&)>& pass);

// Makes `steps` steps one computation. Every feed and result gets a new first axis with an entry for each step, and a
// step reads the variables that the step before assigned.
Specialized repeat(Specialized step, int64_t steps);

// A graph without effects. Reads become values, and the last value assigned to each variable becomes a further result;
// `slots[i]` is the variable of the i-th of these. An operand that is a variable means its value at the start of the
// run.
struct Pure {
  std::unique_ptr<Graph> graph;
  std::vector<int64_t> slots;
};
Pure remove_effects(const Graph& graph);

// A copy whose counted loops stack nothing: they carry each stack, and an iteration writes a row of it. Throws Error
// for a stack of unknown shape.
std::unique_ptr<Graph> carry_stacks(const Graph& graph);

}  // namespace alloy::ir
