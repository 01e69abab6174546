// Notices that others want the same cores. Threads that spin then stand in the way of those they wait for; threads that sleep leave the core
// to them.
#pragma once

#include <chrono>

namespace alloy::portable {

// As often as this at most is looked, which takes some microseconds. In less time than the scheduler's slices there is nothing to see.
inline constexpr std::chrono::milliseconds kWatchInterval(10);

// To be called after every run: measures the time since the last look and chooses how threads wait from now on.
void watch_contention();

// What was chosen last.
bool sleeps_for_others();

}  // namespace alloy::portable
