// C++ exceptions as values. Plain C++: an .mm file has no handler.
#pragma once

#include <exception>

#include "ir/callable.h"

namespace alloy::engine {

// Calls work(); returns what it throws, or null. Exceptions of other languages pass.
std::exception_ptr caught(ir::Callable work);

}  // namespace alloy::engine
