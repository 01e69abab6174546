// C++ exceptions must not reach the Objective-C++ of the facade, which cannot catch them. So the facade calls code that
// may throw inside guard().
#pragma once

#include <string>

#include "ir/callable.h"

namespace alloy::runtime {

// The beginning of the message of device::Interrupted.
inline constexpr const char kInterrupted[] = "The run was interrupted";
// Prefix of the message of an Abort (compiler/imitation.h).
inline constexpr const char kAborts[] = "Aborts: ";

// Runs `work` and returns the message of the exception that it threw, or an empty string. The message for
// std::bad_alloc is host::kMemoryIsExhausted.
std::string guard(ir::Callable work) noexcept;

}  // namespace alloy::runtime
