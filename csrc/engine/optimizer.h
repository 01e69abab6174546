// Optimizers as updates in the graph: gradients, new values and assignments, all part of the one executable. Plain C++.
#pragma once

#include <vector>

#include "engine/graph.h"

namespace alloy::engine {

// values - rate * gradient. Returns one update a variable. `rate` has one element.
std::vector<ir::Op*> minimize_sgd(Graph& graph, ir::Value loss, const std::vector<ir::Value>& variables, ir::Value rate);

// Adam with bias correction and epsilon outside the root, as PyTorch computes it (Kingma and Ba 2015, algorithm 1). The moments and the
// step's corrections are new variables of the graph. Returns the updates of the variables and of that state.
struct AdamCoefficients {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
std::vector<ir::Op*> minimize_adam(Graph& graph, ir::Value loss, const std::vector<ir::Value>& variables, ir::Value rate,
                                   const AdamCoefficients& coefficients);

}  // namespace alloy::engine
