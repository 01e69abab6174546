// Notices that others want the same cores. Threads that spin then stand in the way of those they wait for; threads that
// sleep leave the core to them.
#pragma once

#include <chrono>

namespace alloy::cpu {

// Once in so much time of runs is looked, which takes some microseconds. In less than the scheduler's slices there is
// nothing to see.
inline constexpr std::chrono::milliseconds kWatchInterval(10);

// To be called after every run, with its time: looks at the runs since the last look and chooses how threads wait from
// now on.
void watch_contention(std::chrono::nanoseconds run);

// What was chosen last.
bool sleeps_for_others();

}  // namespace alloy::cpu
