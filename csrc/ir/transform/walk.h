// Which ops of a graph a computation needs, and in which order.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The values of outer blocks that the regions of `op` use, each once.
std::vector<Value> captures(const Op& op);

// True if there is such an op in the graph, or in a region of it.
bool has_op(const Graph& graph, const std::function<bool(const Op&)>& is_such);

// The op's operands and captures.
std::vector<Value> used_values(const Op& op);

// Everything that `results` and `effects` need, in order of execution, regions excluded (their captures are followed).
// What only regions that run backwards use is needed where gradients are.
enum class For : uint8_t { kRunning, kGradients };
std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects,
                          For purpose = For::kRunning);

// The same in stages. An op stands in the first stage after everything it needs: its operands, what it runs after, and,
// if it reads or assigns a variable at that point of execution, earlier assignments and reads of that variable.
std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects);

}  // namespace alloy::ir
