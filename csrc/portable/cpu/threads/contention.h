// Notices that other programs use the same cores. Then threads that spin while they wait block the threads that they
// wait for; threads that sleep leave the core to them.
#pragma once

#include <chrono>

namespace alloy::cpu {

// Time of runs between two looks. A look takes some microseconds, and intervals shorter than the scheduler's slices
// show nothing.
inline constexpr std::chrono::milliseconds kWatchInterval(10);

// Must be called after every run with the run's time. Looks at the runs since the last look, and chooses how threads
// wait from now on.
void watch_contention(std::chrono::nanoseconds run);

// The last choice.
bool sleeps_for_others();

}  // namespace alloy::cpu
