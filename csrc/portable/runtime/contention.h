// Notices from the outside of a run that other processes want the same cores. Spinning threads then stand in the way of those they wait
// for; threads that sleep leave the core to them.
#pragma once

#include <chrono>
#include <cstdint>

namespace alloy::portable {

// Measures one long run, of tens of milliseconds, and chooses how threads wait in the next ones.
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
