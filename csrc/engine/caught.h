// Handlers of C++ exceptions, in plain C++, because an .mm file has no handlers.
#pragma once

#include <exception>
#include <vector>

#include "ir/callable.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

// Calls work() and returns the exception that it throws, or null. Exceptions of other languages pass through.
std::exception_ptr caught(ir::Callable work);
// Calls work(). If placeholders leave shapes open, an error that work() throws names the shapes that are fed.
void with_fed_shapes(const std::vector<ir::Feed>& feeds, ir::Callable work);

}  // namespace alloy::engine
