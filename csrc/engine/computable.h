// What the framework can compute; the ir can name more. Plain C++.
#pragma once

#include "ir/graph.h"
#include "ir/quirks.h"

namespace alloy::engine {

// Throws ir::Error where an op has operands or results of a type that does not compute, or, as far as shapes are known,
// is the first to give a tensor without elements, or gives one of 2^31 or more: the framework aborts on all of them.
void require_computable(const ir::Op& op, ir::System system);

}  // namespace alloy::engine
