// Gradients of a loss to variables, which optimizers, written in Python, move them down. Plain C++.
#pragma once

#include <vector>

#include "engine/graph.h"

namespace alloy::engine {

// A gradient and the variable that it is for, of one type.
struct VariableGradient {
  ir::Value gradient;
  ir::Value variable;
};

// The gradient of a loss, which has one element, to each variable. Throws ir::Error where the loss does not depend on
// one.
std::vector<VariableGradient> loss_gradients(Graph& graph, ir::Value loss, const std::vector<ir::Value>& variables);

// Throws ir::Error where a gradient is not of its variable's type, or one of the two is of another graph.
void require_own(const Graph& graph, const std::vector<VariableGradient>& gradients);

}  // namespace alloy::engine
