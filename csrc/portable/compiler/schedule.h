// The order in which a program computes the ops of a graph's body.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace alloy::compiler {

// The ops in an order of execution. Updates of variables come as early as possible, so that gradients are freed soon;
// all other ops keep their order. An update may overwrite the variable's old value, so it waits for all readers of that
// value. The last results are the final values of the variables in `slots`.
std::vector<const ir::Op*> schedule(const ir::Graph& graph, const std::vector<int64_t>& slots);

}  // namespace alloy::compiler
