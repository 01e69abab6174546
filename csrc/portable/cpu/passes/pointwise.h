// A pass of the CPU, which runs before the compiler simplifies and fuses.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace alloy::cpu {

// Replaces convolutions of 1x1 kernels, and their gradients, by matrix products. The graph's shapes must be resolved.
std::unique_ptr<ir::Graph> lower_convolutions(const ir::Graph& graph);

}  // namespace alloy::cpu
