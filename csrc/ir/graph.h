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

// One result of an op. A plain handle that is valid as long as the graph lives.
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
  std::vector<Op*> after;                       // ops that run first, whenever this op runs
  std::vector<std::unique_ptr<Block>> regions;  // nested blocks, which may use values of the blocks around them
  Block* block = nullptr;                       // the block that holds the op
  uint64_t id = 0;                              // grows in the order of creation, which is a legal order of execution
  std::string name;                             // the user's name for it, or empty
  std::string location;                         // the user's file:line, or empty
  std::string typed;                            // the function that the user called, for messages; or empty

  const OpInfo& info() const { return ir::info(code); }
  // One of the op's results, as an operand for others.
  Value result(uint32_t index = 0) const { return {const_cast<Op*>(this), index}; }
  // Throws Error "[conv2d] message; built at model.py:12."
  [[noreturn]] void fail(const std::string& message, Error::Kind kind = Error::Kind::kValue) const;
};

// A list of ops in order of execution, with the values that it returns.
class Block {
 public:
  // The values given on entry, one for each `argument`; only regions of loops and of custom gradients have some.
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

  // Appends an op to the current block after checking it against the grammar and its rule. A variable without a slot
  // gets the next slot. On a mistake, throws Error and leaves the graph unchanged.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with one result.
  Value value(OpCode code, std::vector<Value> operands, Attributes attributes = {});
  // The same for an op with regions that close_region returned. If it throws, the regions' values stay valid.
  Op* add(OpCode code, std::vector<Value> operands, Attributes attributes, std::vector<std::unique_ptr<Block>> regions);

  // Opens a nested block, to which ops are added until close_region ends it. Returns the block's arguments, which have
  // the given types.
  std::vector<Value> open_region(const std::vector<Type>& arguments = {});
  // Ends the block and returns it, with its results. Throws Error and abandons the block if a result is of another
  // graph.
  std::unique_ptr<Block> close_region(std::vector<Value> results);
  // Drops the open region, or a closed one. Its values stay valid, but nothing can use them.
  void abandon_region();
  void abandon(std::unique_ptr<Block> region) { abandoned_.push_back(std::move(region)); }
  bool is_in_region() const { return !open_.empty(); }
  // True if the next op may use the value: it is in the body or in an open region.
  bool sees(Value value) const;

  // Makes a value of region `k` of a conditional available as a result of the conditional: an existing result, or a new
  // last one, for which the other region gives unspecified contents.
  Value lend(Op* conditional, size_t k, Value inner);

  // Makes a value of a counted loop's region available as a result of the loop that stacks the value of every
  // iteration: an existing result, or a new last one.
  Value stack(Op* loop, Value inner);

  // Given to every op added from now on: the user's name and location in the source, the function that the user called,
  // and the ops that run first.
  std::string name;
  std::string location;
  std::string typed;
  std::vector<Op*> after;
  // Given to every op added from now on that multiplies and has none: the attribute `precision`; or empty.
  std::string precision;
  // Copies the op's name, location and function.
  void label_as(const Op& op);

  Block& body() { return *body_; }
  const Block& body() const { return *body_; }
  // One more than the largest slot of a variable (attribute `slot`, counted from 0).
  int64_t variable_count() const { return variable_count_; }

 private:
  // True if `block` belongs to this graph: it is the body, an open region, or nested in an op of one of them.
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
