// A pass of the CPU, which runs after the compiler has simplified a graph and before it fuses ops.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace alloy::cpu {

// Replaces softmax(scale query key^T + mask) value, and its gradients, by ops that never hold all scores. The gradients
// are recognised as the rules of the op, of softmax and of products make them. Null if there is no attention.
std::unique_ptr<ir::Graph> find_attention(const ir::Graph& graph);

}  // namespace alloy::cpu
