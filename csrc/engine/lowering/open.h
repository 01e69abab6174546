// Ops that can be lowered although their shapes are not known. Plain C++.
#pragma once

#include "ir/graph.h"

namespace alloy::engine {

// Throws ir::Error if a shape of the op is open and its lowering needs the shape.
void require_open(const ir::Op& op);

}  // namespace alloy::engine
