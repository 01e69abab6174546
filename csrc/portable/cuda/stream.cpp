#include "cuda/stream.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace alloy::cuda {

Timeline::Timeline(const Context& context) : context_(context) {
  const Driver& driver = context.enter();
  driver.check(driver.stream_create(&stream_, kNonBlocking), "cuStreamCreate");
  void* over = nullptr;
  driver.check(driver.host_allocate(&over, sizeof(uint64_t), kPortable | kMapped), "cuMemHostAlloc");
  over_ = new (over) uint64_t{0};
  driver.check(driver.host_address(&over_address_, over, 0), "cuMemHostGetDevicePointer");
  driver.check(driver.allocate(&count_, sizeof(uint64_t)), "cuMemAlloc");
  driver.check(driver.fill(count_, 0, sizeof(uint64_t), stream_), "cuMemsetD8Async");
}

Timeline::~Timeline() {
  try {
    const Driver& driver = context_.enter();
    static_cast<void>(driver.synchronize(stream_));
    static_cast<void>(driver.stream_destroy(stream_));
    static_cast<void>(driver.free(count_));
    static_cast<void>(driver.host_free(over_));
  } catch (const std::exception&) {
    // At the end of the process the driver has ended all streams.
  }
}

// The end of a run. In a forked child and at the end of the process all work counts as over.
class Fence final : public host::Fence, public std::enable_shared_from_this<Fence> {
 public:
  Fence(std::shared_ptr<Timeline> timeline, device::Outcome& outcome, std::shared_ptr<host::WorkQueue> watch)
      : timeline_(std::move(timeline)), number_(timeline_->begun), outcome_(outcome), watch_(std::move(watch)) {}

  // A failed run does not write its number, so the driver is asked, too.
  bool is_over() override {
    if (timeline_->over() >= number_) return true;
    CUresult result = 0;
    try {
      result = timeline_->context().enter().stream_query(timeline_->stream());
    } catch (const std::exception&) {
      return true;
    }
    if (result == kNotReady) return false;
    tell(result);
    return true;
  }

  // Most runs are short, and a thread that sleeps wakes late.
  void wait() override {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds kAwake{2000}, kAsleep{50};
    constexpr int kLooks = 200;
    const Clock::time_point begin = Clock::now();
    while (!is_over()) {
      if (Clock::now() - begin > kAwake) std::this_thread::sleep_for(kAsleep);
      for (int i = 0; i < kLooks && timeline_->over() < number_; ++i) pause();
    }
  }

  void then(std::function<void()> action) override {
    auto watched = [self = shared_from_this(), action] {
      self->wait();
      action();
    };
    if (!watch_->submit(watched).ok()) watched();
  }

  void precede(CUstream stream) const {
    const Driver& driver = timeline_->context().enter();
    driver.check(driver.stream_wait(stream, timeline_->over_address(), number_, kAtLeast), "cuStreamWaitValue64");
  }

 private:
  static void pause() {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }

  // The outcome may be gone once somebody knows that the run is over.
  void tell(CUresult result) {
    std::lock_guard lock(mutex_);
    if (std::exchange(told_, true) || result == 0) return;
    try {
      timeline_->context().enter().check(result, "A run on the GPU");
    } catch (const std::exception& error) {
      outcome_.fail({error.what()});
    }
  }

  const std::shared_ptr<Timeline> timeline_;
  const uint64_t number_;
  std::mutex mutex_;
  bool told_ = false;
  device::Outcome& outcome_;
  const std::shared_ptr<host::WorkQueue> watch_;
};

Timeline& Stream::timeline() {
  if (!timeline_) timeline_ = std::make_shared<Timeline>(context_);
  return *timeline_;
}

host::FenceRef Stream::fence() {
  if (last_ && last_->is_over()) last_.reset();
  return last_;
}

void Stream::follow(const host::FenceRef& fence) {
  if (!fence || fence == last_) return;
  if (const auto own = std::dynamic_pointer_cast<Fence>(fence)) own->precede(timeline().stream());
  else fence->wait();
}

void Stream::add_run(device::Outcome& outcome) {
  ++timeline().begun;
  last_ = std::make_shared<Fence>(timeline_, outcome, watch_);
}

}  // namespace alloy::cuda
