// Optimizers as updates in the graph: gradients, new values and assignments, all part of the one executable. Plain C++.
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

// The updates that move variables down their gradients, wherever those come from. `rate` has one element. Throws as
// require_own.

// values - rate * gradient. One update a variable.
std::vector<ir::Op*> apply_sgd(Graph& graph, const std::vector<VariableGradient>& gradients, ir::Value rate);

// Adam with bias correction and epsilon outside the root, as PyTorch computes it (Kingma and Ba 2015, algorithm 1). The
// moments, which are kept corrected, and the corrections are new variables of the graph. Returns the updates of the
// variables and of that state.
struct AdamCoefficients {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
std::vector<ir::Op*> apply_adam(Graph& graph, const std::vector<VariableGradient>& gradients, ir::Value rate,
                                const AdamCoefficients& coefficients);

}  // namespace alloy::engine
