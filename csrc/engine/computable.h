// Checks that the framework can compute an op; the ir has more. Plain C++.
#pragma once

#include "ir/graph.h"
#include "ir/quirks.h"

namespace alloy::engine {

// Throws ir::Error if the op has operands or results of a type without arithmetic, or if a result has no elements
// (reported at the first such op) or 2^31 or more, as far as shapes are known. The framework aborts on all of these.
void require_computable(const ir::Op& op, ir::System system);

}  // namespace alloy::engine
