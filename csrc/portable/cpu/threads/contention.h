// Notices that other programs use the same cores. Then threads that spin while they wait block the threads they wait
// for; threads that sleep leave the core to them.
#pragma once

#include <chrono>

namespace alloy::cpu {

// How much time runs take between two looks. A look takes some microseconds. In intervals shorter than the scheduler's
// slices there is nothing to see.
inline constexpr std::chrono::milliseconds kWatchInterval(10);

// To be called after every run, with its time: looks at the runs since the last look and chooses how threads wait from
// now on.
void watch_contention(std::chrono::nanoseconds run);

// What was chosen last.
bool sleeps_for_others();

}  // namespace alloy::cpu
