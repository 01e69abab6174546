// The order in which a program computes the ops of a graph's body.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace alloy::compiler {

// The ops in an order of execution. Updates of variables come as early as possible, so that gradients are freed soon;
// all other ops keep their order. An update waits for all readers of the variable's old value, because it can then
// overwrite that. `slots` are of the variables whose final values the last results are.
std::vector<const ir::Op*> schedule(const ir::Graph& graph, const std::vector<int64_t>& slots);

}  // namespace alloy::compiler
