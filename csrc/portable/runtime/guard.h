// The border that C++ exceptions do not cross: Objective-C++ of the facade cannot catch them, so what may throw runs
// inside guard().
#pragma once

#include <functional>
#include <string>

namespace alloy::runtime {

inline constexpr const char kMemoryIsExhausted[] = "Memory is exhausted.";
// How the sentence of a device::Interrupted begins.
inline constexpr const char kInterrupted[] = "The run was interrupted";
// Before the sentence of an Abort (imitation.h).
inline constexpr const char kAborts[] = "Aborts: ";

// Runs `work` and returns the sentence of the exception it threw, or an empty string; of std::bad_alloc
// kMemoryIsExhausted.
std::string guard(const std::function<void()>& work) noexcept;

}  // namespace alloy::runtime
