// Notices from the outside of a run that other processes want the same cores. Spinning threads then stand in the way of those they wait
// for; threads that sleep leave the core to them.
#pragma once

#include <chrono>
#include <cstdint>

namespace alloy::portable {

// A run that is longer than the scheduler's time slices; in a shorter one nothing can be seen.
inline constexpr std::chrono::milliseconds kLongRun(10);

// Whether threads sleep where they wait, because of what the last long run saw.
bool sleeps_for_others();

// Measures one run and chooses how threads wait in the next ones: they spin after a short run, whatever happened in it.
class ContentionWatch {
 public:
  ContentionWatch();
  ~ContentionWatch();
  ContentionWatch(const ContentionWatch&) = delete;
  ContentionWatch& operator=(const ContentionWatch&) = delete;

 private:
  std::chrono::steady_clock::time_point start_;
  double cpu_seconds_;
  int64_t preemptions_;
};

}  // namespace alloy::portable
