// The actions of a program as a list: calls, copies, and the places where conditionals and loops begin, branch and end.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/device.h"
#include "ir/graph.h"

namespace alloy::compiler {

// Makes the kernel of an op at the first request for it.
class Kernels {
 public:
  Kernels(const device::Device& device, device::HostKernelMaker make_on_host)
      : device_(device), make_on_host_(std::move(make_on_host)) {}

  // Throws what the makers throw.
  device::Kernel& of(const ir::Op& op);
  // Gives away a kernel that of() has made.
  std::unique_ptr<device::Kernel> take(const ir::Op& op) { return std::move(kernels_.at(&op)); }

 private:
  const device::Device& device_;
  const device::HostKernelMaker make_on_host_;
  std::unordered_map<const ir::Op*, std::unique_ptr<device::Kernel>> kernels_;
};

// One action, which becomes a step of the plan.
struct Item {
  // A conditional is listed as kIf, its first region, kElse, its second region, kEnd; a loop as kLoop, its first
  // region, kLeave, its second region, kRepeat.
  enum class Kind : uint8_t { kCall, kCopy, kIf, kElse, kEnd, kLoop, kLeave, kRepeat };
  Kind kind;
  const ir::Op* op = nullptr;                                // the op of a call, a conditional or a loop
  ir::Value from = {}, to = {};                              // of a copy
  std::vector<std::pair<const ir::Op*, int>> branches = {};  // the ops around it, the number of the region of each

  std::vector<ir::Value> operands() const;
};

// True if no run executes both items, because they belong to different branches of a conditional.
bool exclusive(const Item& a, const Item& b);

// The items of a graph in their order. The planner uses positions in the list as times.
struct Items {
  std::vector<Item> list;
  // Values that ops use but none computes.
  std::vector<ir::Value> constants;
  std::vector<std::pair<ir::Value, int64_t>> variables;  // with their slots

  ir::ValueMap<ir::Value> alias;                // the value whose memory another one shares; root() follows these
  std::vector<std::unique_ptr<ir::Op>> asides;  // ops whose results are copies of values of the graph,
  ir::ValueMap<ir::Value> stands_for;           // and those values

  // The value whose memory `v` shares: a reshape shares its operand's memory, a branch's result the conditional's, and
  // a loop's result the memory of the value that the loop's first region returns.
  ir::Value root(ir::Value v) const;
};

// Lists the items of the graph in the order of schedule(). The last results are the final values of the variables in
// `slots`. Throws what the makers of kernels throw.
Items line_up(const ir::Graph& graph, const std::vector<int64_t>& slots, Kernels& kernels);

}  // namespace alloy::compiler
