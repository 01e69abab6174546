// Gradients of a loss with respect to variables, for optimizers, which are written in Python. Plain C++.
#pragma once

#include <vector>

#include "engine/graph.h"

namespace alloy::engine {

// A gradient and its variable, which have the same type.
struct VariableGradient {
  ir::Value gradient;
  ir::Value variable;
};

// The gradient of a loss of one element with respect to each variable. Throws ir::Error if the loss does not depend on
// one of them.
std::vector<VariableGradient> loss_gradients(Graph& graph, ir::Value loss, const std::vector<ir::Value>& variables);

// Throws ir::Error if a gradient does not have its variable's type, or one of the two belongs to another graph.
void require_own(const Graph& graph, const std::vector<VariableGradient>& gradients);

}  // namespace alloy::engine
