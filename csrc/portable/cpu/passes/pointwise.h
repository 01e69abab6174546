// A pass of the CPU, which runs before the compiler simplifies and fuses.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace alloy::cpu {

// Turns convolutions of 1x1 kernels, and their gradients, into matrix products. Of a graph with resolved shapes.
std::unique_ptr<ir::Graph> lower_convolutions(const ir::Graph& graph);

}  // namespace alloy::cpu
