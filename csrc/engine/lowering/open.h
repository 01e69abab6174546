// Which ops are lowered although their shapes are not known. Plain C++.
#pragma once

#include "ir/graph.h"

namespace alloy::engine {

// Throws ir::Error where a shape of the op is open, and its lowering needs it.
void require_open(const ir::Op& op);

}  // namespace alloy::engine
