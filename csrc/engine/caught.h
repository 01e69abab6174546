// Handlers of C++ exceptions. Plain C++: an .mm file has no handler.
#pragma once

#include <exception>
#include <vector>

#include "ir/callable.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

// Calls work(); returns what it throws, or null. Exceptions of other languages pass.
std::exception_ptr caught(ir::Callable work);
// Calls work(); a mistake that it throws says the shapes that are fed, where placeholders leave them open.
void with_fed_shapes(const std::vector<ir::Feed>& feeds, ir::Callable work);

}  // namespace alloy::engine
