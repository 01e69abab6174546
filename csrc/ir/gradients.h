// Differentiation in reverse.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The gradients of `primary` (summed over its elements, weighted by `seed` where given) to each target, built from the
// gradient rules and named after the ops differentiated (names.h). A target that does not reach `primary` has a null
// Value. Throws Error where an op on the way has no gradient.
std::vector<Value> gradients(Graph& graph, Value primary, const std::vector<Value>& targets, Value seed = {});

}  // namespace alloy::ir
