// Interruption of waits that may never end. Plain C++.
#pragma once

#include <chrono>
#include <functional>

namespace alloy::engine {

// The interval at which a waiting thread calls `ask`.
inline constexpr std::chrono::milliseconds kAskInterval{50};

// From now on every thread that waits for a run, an event or a lock calls `ask` every kAskInterval; an exception from
// `ask` ends the wait. Null (the default): waits are not interrupted.
void set_interruption(void (*ask)());
// Called by a waiting thread, without any lock that `ask` could need. Calls `interrupted` before it throws.
void ask_for_interruption(const std::function<void()>& interrupted = nullptr);

}  // namespace alloy::engine
