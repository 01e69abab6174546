// Finds the ops that a computation needs, and their order.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The values of outer blocks that the regions of `op` use, each once.
std::vector<Value> captures(const Op& op);

// True if the graph or a region in it has such an op.
bool has_op(const Graph& graph, const std::function<bool(const Op&)>& is_such);

// The op's operands and captures.
std::vector<Value> used_values(const Op& op);

// The ops that `results` and `effects` need, in order of execution, without ops in regions; the values that regions
// capture count as needed. A custom gradient's region counts only for kGradients.
enum class For : uint8_t { kRunning, kGradients };
std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects,
                          For purpose = For::kRunning);

// The same in stages. An op is in the first stage after everything it needs: its operands, the ops it runs after and,
// for reads and assignments of variables, the earlier assignments and reads of the variable.
std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects);

}  // namespace alloy::ir
