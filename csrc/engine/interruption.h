// How a wait that may never end is ended from outside. Plain C++.
#pragma once

#include <chrono>
#include <functional>

namespace alloy::engine {

// How often a thread that waits asks.
inline constexpr std::chrono::milliseconds kAskInterval{50};

// From now on every thread that waits for a run, an event or a lock calls `ask` every kAskInterval; what that throws
// ends the waiting. Null, as at first: nobody is asked.
void set_interruption(void (*ask)());
// Called by such a thread, without a lock that `ask` could want. `interrupted` is called before it throws.
void ask_for_interruption(const std::function<void()>& interrupted = nullptr);

}  // namespace alloy::engine
