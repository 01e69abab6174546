// What of a graph a computation needs, and in which order.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The values of outer blocks that the regions of `op` use, each once.
std::vector<Value> captures(const Op& op);

// The op's operands and captures.
std::vector<Value> used_values(const Op& op);

// Everything that `results` and `effects` need, in order of execution, regions excluded (their captures are followed).
std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects);

// The same in stages: an op stands in the first one behind everything it needs, which is its operands, what it runs
// after, and, of a variable that it reads or assigns at that point of execution, what assigned or read it before.
std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects);

}  // namespace alloy::ir
