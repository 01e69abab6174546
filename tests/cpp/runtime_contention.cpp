// How threads wait beside others that want their cores.
#include "runtime/contention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace alloy::portable {
namespace {

using Clock = std::chrono::steady_clock;

void work(std::chrono::microseconds duration) {
  for (const auto end = Clock::now() + duration; Clock::now() < end;) {
  }
}

// Threads that want every core, twice.
class Neighbours {
 public:
  Neighbours() {
    for (unsigned i = 0; i < 2 * std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads_.emplace_back([this] {
        while (!done_) work(std::chrono::microseconds(100));
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

// A preemption in a run of microseconds looks like thousands in a second. Whoever believed that slept from then on, for a short run is not
// followed by one that is measured.
TEST(Contention, NothingIsSeenInAShortRun) {
  const Neighbours neighbours;
  for (const auto end = Clock::now() + std::chrono::milliseconds(400); Clock::now() < end;) {
    const auto start = Clock::now();
    {
      const ContentionWatch watch;
      work(std::chrono::microseconds(50));
    }
    if (Clock::now() - start < kLongRun) {
      ASSERT_FALSE(sleeps_for_others());
    }
  }
}

TEST(Contention, AShortRunEndsWhatALongOneSaw) {
  const Neighbours neighbours;
  for (int i = 0; i < 20; ++i) {
    {
      const ContentionWatch watch;
      work(3 * kLongRun);
    }
    const auto start = Clock::now();
    { const ContentionWatch watch; }
    if (Clock::now() - start < kLongRun) {
      ASSERT_FALSE(sleeps_for_others());
    }
  }
}

}  // namespace
}  // namespace alloy::portable
