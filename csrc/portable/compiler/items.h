// What a program does, as a list: calls, copies, and the places where conditionals and loops begin, branch and end.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/device.h"
#include "ir/graph.h"

namespace alloy::compiler {

// The kernels of ops, each prepared when it is first asked for.
class Kernels {
 public:
  explicit Kernels(const device::Device& device) : device_(device) {}

  // Throws ir::Error where the device lacks the op.
  device::Kernel& of(const ir::Op& op);
  // Gives away a kernel that of() has prepared.
  std::unique_ptr<device::Kernel> take(const ir::Op& op) { return std::move(kernels_.at(&op)); }

 private:
  const device::Device& device_;
  std::unordered_map<const ir::Op*, std::unique_ptr<device::Kernel>> kernels_;
};

// One thing to do: what becomes a step.
struct Item {
  // A conditional is listed as kIf, its first region, kElse, its second region, kEnd; a loop as kLoop, its first
  // region, kLeave, its second region, kRepeat.
  enum class Kind : uint8_t { kCall, kCopy, kIf, kElse, kEnd, kLoop, kLeave, kRepeat };
  Kind kind;
  const ir::Op* op = nullptr;                                // of a call, or the conditional or loop
  ir::Value from = {}, to = {};                              // of a copy
  std::vector<std::pair<const ir::Op*, int>> branches = {};  // the ops whose regions it stands in, and which of each

  std::vector<ir::Value> operands() const;
};

// Whether no run executes both, because they stand in different branches of a conditional.
bool exclusive(const Item& a, const Item& b);

// The items of a graph in their order. Positions in it are the planner's time.
struct Items {
  std::vector<Item> list;
  // Values that are used but not computed.
  std::vector<ir::Value> constants;
  std::vector<std::pair<ir::Value, int64_t>> variables;  // and their slots

  ir::ValueMap<ir::Value> alias;                // whose memory a value shares, one step of root()
  std::vector<std::unique_ptr<ir::Op>> asides;  // whose results are copies of values of the graph, ...
  ir::ValueMap<ir::Value> stands_for;           // ... these

  // The value whose memory `v` shares: a reshape shares its operand's, a branch's result the conditional's, and a
  // loop's result that of the value its first region passes on.
  ir::Value root(ir::Value v) const;
};

// Lists what the graph does, in the order of schedule(). `slots` are of the variables whose final values the last
// results are. Throws ir::Error for an op that the device lacks.
Items line_up(const ir::Graph& graph, const std::vector<int64_t>& slots, Kernels& kernels);

}  // namespace alloy::compiler
