#include "cuda/timeline.h"

#include <exception>
#include <new>
#include <thread>

#include "host/pause.h"
#include "host/work_queue.h"

namespace alloy::cuda {
// The first constructor has made an object, so the destructor frees what there is if a call fails.
Timeline::Timeline(const Context& context) : Timeline(context, Nothing{}) {
  const Driver& driver = context.enter();
  void* over = nullptr;
  driver.check(driver.host_allocate(&over, sizeof(uint64_t), kPortable | kMapped), "cuMemHostAlloc");
  over_ = new (over) uint64_t{0};
  driver.check(driver.host_address(&over_address_, over, 0), "cuMemHostGetDevicePointer");
  driver.check(driver.allocate(&count_, sizeof(uint64_t)), "cuMemAlloc");
  driver.check(driver.stream_create(&stream_, kNonBlocking), "cuStreamCreate");
  driver.check(driver.fill(count_, 0, sizeof(uint64_t), stream_), "cuMemsetD8Async");
}

Timeline::~Timeline() {
  try {
    const Driver& driver = context_.enter();
    if (stream_ != nullptr) {
      static_cast<void>(driver.synchronize(stream_));
      static_cast<void>(driver.stream_destroy(stream_));
    }
    if (count_ != 0) static_cast<void>(driver.free(count_));
    if (over_ != nullptr) static_cast<void>(driver.host_free(over_));
  } catch (const std::exception&) {
    // At the end of the process the driver has ended all streams.
  }
}

// Only the driver knows of failures. Asking it takes longer than most looks at a count that the GPU writes.
bool Timeline::is_over(uint64_t number) const {
  constexpr Clock::duration kAskInterval = std::chrono::microseconds(100);
  if (over() >= number || !host::process_status().ok()) return true;
  const Clock::time_point now = Clock::now();
  if (now - asked_.load(std::memory_order_relaxed) < kAskInterval) return false;
  asked_.store(now, std::memory_order_relaxed);
  const Driver& driver = context_.enter();
  const CUresult result = driver.stream_query(stream_);
  if (result == kNotReady) return false;
  // Who is told of the failure may free what the work uses.
  if (result != 0) static_cast<void>(driver.synchronize(stream_));
  driver.check(result, "cuStreamQuery");
  return true;
}

// Most work is short, and a thread that sleeps wakes late.
void Timeline::wait(uint64_t number) const {
  constexpr std::chrono::microseconds kAwake{2000}, kAsleep{50};
  constexpr int kLooks = 200;
  const Clock::time_point begin = Clock::now();
  while (!is_over(number)) {
    if (Clock::now() - begin > kAwake) std::this_thread::sleep_for(kAsleep);
    for (int i = 0; i < kLooks && over() < number; ++i) host::pause();
  }
}

void Timeline::precede(const Timeline& next, uint64_t number) const {
  const Driver& driver = next.context_.enter();
  driver.check(driver.stream_wait(next.stream_, over_address_, number, kAtLeast), "cuStreamWaitValue64");
}

}  // namespace alloy::cuda
