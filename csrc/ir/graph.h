// A computation as a graph of ops in blocks. Owns its ops; refuses an op that breaks the grammar (ir/README.md) when it
// is added. Not thread-safe: one thread builds a graph.
#pragma once

#include <memory>
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
  std::string typed;                            // the function the user called, for messages; empty: the op's own name

  const OpInfo& info() const { return ir::info(code); }
  // One of its results, as an operand for others.
  Value result(uint32_t index = 0) const { return {const_cast<Op*>(this), index}; }
  // "[conv2d] message; built at model.py:12." as an Error.
  [[noreturn]] void fail(const std::string& message, Error::Kind kind = Error::Kind::kValue) const;
};

// A list of ops in order of execution, with the values that it returns.
class Block {
 public:
  // The values it has on entry, one for each `argument`; only regions of loops have some.
  std::vector<std::unique_ptr<Op>> arguments;
  std::vector<std::unique_ptr<Op>> ops;
  std::vector<Value> results;
  std::vector<Op*> effects;  // ops that run although no result of theirs is used
  Op* parent = nullptr;      // the op whose region this is; null for a graph's body
};

class Graph {
 public:
  Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // Appends an op to the current block, checked by the grammar and its rule. A variable without a slot gets the next
  // one. Throws Error and leaves the graph as it was.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with one result.
  Value value(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with regions, which close_region returned. Where it throws, their values stay valid.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes, std::vector<std::unique_ptr<Block>> regions);

  // Between open and close, ops go to a new nested block, which close hands over with these results. Returns the
  // block's arguments, which have these types.
  std::vector<Value> open_region(const std::vector<Type>& arguments = {});
  // Throws Error where a result is of another graph; the region is abandoned then.
  std::unique_ptr<Block> close_region(std::vector<Value> results);
  // Ends the open region without a use for it, or takes one that was closed: their values stay valid, but nothing can
  // use them.
  void abandon_region();
  void abandon(std::unique_ptr<Block> region) { abandoned_.push_back(std::move(region)); }
  bool is_in_region() const { return !open_.empty(); }
  // True if the next op may use the value: it is in the body or in an open region.
  bool sees(Value value) const;

  // The value of region `k` of a conditional as a result of the conditional: one it has, or a new last one, of which
  // the other region gives unspecified contents.
  Value lend(Op* conditional, size_t k, Value inner);

  // The value of the region of a counted loop, of all iterations, as a result of the loop: one it has, or a new last
  // one.
  Value stack(Op* loop, Value inner);

  // What every op added from now on gets: the user's name and place in the source, the function that the user called,
  // and the ops it must run after.
  std::string name;
  std::string location;
  std::string typed;
  std::vector<Op*> after;
  // The first three as the op has them.
  void label_as(const Op& op);

  Block& body() { return *body_; }
  const Block& body() const { return *body_; }
  // Number of slots up to the last one that a variable has (attribute `slot`, counted from 0).
  int64_t variable_count() const { return variable_count_; }

 private:
  // True if `block` is of this graph: the body or an open region, or nested in an op that stands in one of them.
  bool holds(const Block* block) const;

  std::unique_ptr<Block> body_;
  std::vector<std::unique_ptr<Block>> open_;
  std::vector<std::unique_ptr<Block>> abandoned_;
  uint64_t next_id_ = 0;
  int64_t variable_count_ = 0;
};

// True if running the op changes state.
bool has_effect(const Op& op);

}  // namespace alloy::ir
