// A computation as a graph of ops in blocks. Owns its ops; refuses an op that breaks the grammar (ir/README.md) when it
// is added. Not thread-safe: one thread builds a graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/op.h"

namespace alloy::ir {

class Block;

// One result of an op. A plain handle: valid as long as the graph lives.
struct Value {
  Op* op = nullptr;
  uint32_t index = 0;

  explicit operator bool() const { return op != nullptr; }
  bool operator==(const Value&) const = default;
  const Type& type() const;
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
};

struct ValueHash {
  size_t operator()(const Value& v) const { return std::hash<Op*>()(v.op) * 31 + v.index; }
};
template <class T>
using ValueMap = std::unordered_map<Value, T, ValueHash>;

class Op {
 public:
  OpCode code;
  Attributes attributes;
  std::vector<Value> operands;
  std::vector<Type> results;
  std::vector<Op*> after;  // effects and results of these come first, and run whenever this op runs
  std::vector<std::unique_ptr<Block>> regions;  // nested blocks, which may use values of the blocks around them
  Block* block = nullptr;                       // where the op stands
  uint64_t id = 0;                              // grows in the order of creation, which is a legal order of execution
  std::string name;                             // the user's name for it, or empty
  std::string location;                         // the user's file:line, or empty

  const OpInfo& info() const { return ir::info(code); }
  // "[conv2d] message; built at model.py:12." as an Error.
  [[noreturn]] void fail(const std::string& message, Error::Kind kind = Error::Kind::kValue) const;
};

// A list of ops in order of execution, with the values it gives to whoever runs it.
class Block {
 public:
  // The values it has on entry, one for each `argument`; only regions of loops have some (ir/regions.h).
  std::vector<std::unique_ptr<Op>> arguments;
  std::vector<std::unique_ptr<Op>> ops;
  std::vector<Value> results;
  std::vector<Op*> effects;  // ops without a used result that run all the same
  Op* parent = nullptr;      // the op whose region this is; null for a graph's body
};

class Graph {
 public:
  Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // Appends an op to the current block, checked by the grammar and its rule. Throws Error and leaves the graph as it
  // was.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with one result.
  Value value(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with regions, which close_region returned.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes, std::vector<std::unique_ptr<Block>> regions);

  // Between open and close, ops go to a new nested block, which close hands over with these results. Returns the
  // block's arguments, which have these types.
  std::vector<Value> open_region(const std::vector<Type>& arguments = {});
  // Throws Error, without the block, where a result is of another graph.
  std::unique_ptr<Block> close_region(std::vector<Value> results);

  // The value of region `k` of a conditional as a result of the conditional: one it has, or a new last one, of which
  // the other region gives unspecified contents.
  Value lend(Op* conditional, size_t k, Value inner);

  // What every op added from now on gets: the user's name and place in the source, and the ops it must run after.
  std::string name;
  std::string location;
  std::vector<Op*> after;

  Block& body() { return *body_; }
  const Block& body() const { return *body_; }
  // Number of variables; each has its own slot, counted from 0 (attribute `slot`).
  int64_t variable_count() const { return variable_count_; }

 private:
  // Whether `block` is of this graph: the body or an open region, or nested in an op that stands in one of them.
  bool holds(const Block* block) const;

  std::unique_ptr<Block> body_;
  std::vector<std::unique_ptr<Block>> open_;
  uint64_t next_id_ = 0;
  int64_t variable_count_ = 0;
};

// The values of outer blocks that the regions of `op` use, each once.
std::vector<Value> captures(const Op& op);

// The op's operands and captures.
std::vector<Value> used_values(const Op& op);

// How many operands of an optimizer, the first ones, are coefficients of one element; 0 of any other op.
size_t coefficient_count(OpCode code);

// Whether running the op changes state.
bool has_effect(const Op& op);

// Whether the op reads the elements of an operand; of the others it only takes the shape.
bool reads(const Op& op, size_t operand);

// Everything that `results` and `effects` need, in order of execution, regions excluded (their captures are followed).
std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects);

// The same in stages: an op stands in the first one behind everything it needs, which is its operands, what it runs
// after, and, of a variable that it reads or assigns at that point of execution, what assigned or read it before.
std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects);

// Makes a copy of a graph op by op, of what its results and effects need.
class Rewriter {
 public:
  // May give the values that stand for an op's results in the copy (an empty list for an op without results that is
  // dropped). Where it gives nothing, the op is copied, its regions too, and its types are inferred anew; an op keeps
  // its slot, name and location.
  using Rule =
      std::function<std::optional<std::vector<Value>>(Rewriter&, const Op&, const std::vector<Value>& operands)>;

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
  // The regions of the op copied whole, where these are its operands: their arguments have the types that follow.
  std::vector<std::unique_ptr<Block>> copy_regions(const Op& op, const std::vector<Value>& operands);
  // Gives what is added next the name and place of the op, and what that runs after.
  void label_as(const Op& op);
  // Copies the op itself over these operands, as where a rule gives nothing.
  std::vector<Value> copy_over(const Op& op, std::vector<Value> operands);
  std::vector<Value> copy_block(const Block& block) { return copy_block(&block, block.results, block.effects); }

 private:
  std::vector<Value> copy_block(const Block* block, const std::vector<Value>& results, const std::vector<Op*>& effects);
  std::vector<Op*> mapped(const std::vector<Op*>& effects) const;
  void copy_op(const Op& op);

  Rule rule_;
  std::unique_ptr<Graph> copy_;
  ValueMap<Value> values_;
  std::unordered_map<const Op*, Op*> ops_;
};

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

// A graph without effects: reads become the values they see, and the last value assigned to each variable is one more
// result, `slots[i]` naming the variable of the i-th of those. Operands that are a variable keep meaning its value at
// the start of the run.
struct Pure {
  std::unique_ptr<Graph> graph;
  std::vector<int64_t> slots;
};
Pure remove_effects(const Graph& graph);

// The gradients of `primary` (summed over its elements, weighted by `seed` where given) to each target, built from the
// gradient rules and named "gradients/" and the name of the op that they came of. A target that does not reach
// `primary` has a null Value. Throws Error where an op on the way has no gradient.
std::vector<Value> gradients(Graph& graph, Value primary, const std::vector<Value>& targets, Value seed = {});

// Checks the whole graph against the grammar and returns every violation; empty means legal.
std::vector<std::string> verify(const Graph& graph);

// The stable text form (ir/README.md). parse(print(g)) prints the same text again, except that constants of over 64
// elements are abridged.
std::string print(const Graph& graph);
// Throws Error with the line of the first mistake.
std::unique_ptr<Graph> parse(std::string_view text);

}  // namespace alloy::ir
