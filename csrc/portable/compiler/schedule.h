// The order in which a program computes the ops of a graph's body.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace alloy::compiler {

// The ops in an order of execution: updates of variables as soon as they can be, so that gradients need not outlive the
// layer they belong to, and everything else as it stands. An update waits for all who read the variable's old value,
// for it can then be written over that. `slots` are of the variables whose final values the last results are.
std::vector<const ir::Op*> schedule(const ir::Graph& graph, const std::vector<int64_t>& slots);

}  // namespace alloy::compiler
