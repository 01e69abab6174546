// Tests how threads wait while others use their cores.
#include "cpu/threads/contention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

namespace alloy::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

void work(Clock::duration duration) {
  for (const auto end = Clock::now() + duration; Clock::now() < end;) {
  }
}

// Adds runs of that length for that long.
void runs(Clock::duration each, Clock::duration all) {
  for (const auto end = Clock::now() + all; Clock::now() < end;) {
    const auto start = Clock::now();
    work(each);
    watch_contention(Clock::now() - start);
  }
}

// Twice as many busy threads as cores.
class Neighbours {
 public:
  Neighbours() {
    for (unsigned i = 0; i < 2 * std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads_.emplace_back([this] {
        while (!done_) work(microseconds(100));
      });
    }
  }
  ~Neighbours() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> done_ = false;
  std::vector<std::thread> threads_;
};

// For runs of any length, and for few preemptions: with long time slices they are few, but waits are long.
TEST(Contention, ThreadsSleepBesideNeighboursAndSpinAfterThem) {
  if (!std::ifstream("/proc/self/schedstat")) GTEST_SKIP() << "this kernel does not count what threads wait";
  runs(milliseconds(10), milliseconds(300));
  if (sleeps_for_others()) GTEST_SKIP() << "other processes want all cores";
  for (const Clock::duration each : {Clock::duration(microseconds(50)), Clock::duration(milliseconds(50))}) {
    {
      const Neighbours neighbours;
      runs(each, milliseconds(300));
      EXPECT_TRUE(sleeps_for_others());
    }
    // Others may have started in the meantime, but not for ever.
    for (int i = 0; i < 30 && (i < 1 || sleeps_for_others()); ++i) runs(each, milliseconds(300));
    EXPECT_FALSE(sleeps_for_others());
  }
}

// The time between runs does not count: nobody waits in it.
TEST(Contention, PausesDoNotHideNeighbours) {
  if (!std::ifstream("/proc/self/schedstat")) GTEST_SKIP() << "this kernel does not count what threads wait";
  const Neighbours neighbours;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(300));
    runs(milliseconds(60), milliseconds(60));
    EXPECT_TRUE(sleeps_for_others());
  }
}

// One preemption in a run of microseconds looks like thousands in a second, so it does not count.
TEST(Contention, NothingIsConcludedFromLittle) {
  runs(kWatchInterval, 3 * kWatchInterval);
  const bool before = sleeps_for_others();
  const Neighbours neighbours;
  for (int i = 0; i < 90; ++i) {
    std::this_thread::yield();
    watch_contention(kWatchInterval / 100);
    ASSERT_EQ(sleeps_for_others(), before);
  }
}

}  // namespace
}  // namespace alloy::cpu
