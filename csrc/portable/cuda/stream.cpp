#include "cuda/stream.h"

#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "host/recycler.h"

namespace alloy::cuda {

// The end of a run. In a forked child and at the end of the process all work counts as over.
class Fence final : public host::Fence, public std::enable_shared_from_this<Fence> {
 public:
  Fence(std::shared_ptr<Timeline> timeline, uint64_t number, device::Outcome& outcome,
        std::shared_ptr<host::WorkQueue> watch)
      : timeline_(std::move(timeline)), number_(number), outcome_(outcome), watch_(std::move(watch)) {}

  bool is_over() override {
    return is_known([&] { return timeline_->is_over(number_); });
  }
  void wait() override {
    is_known([&] {
      timeline_->wait(number_);
      return true;
    });
  }

  void then(std::function<void()> action) override {
    std::function<void()> watched = [self = shared_from_this(), action = std::move(action)] {
      self->wait();
      action();
    };
    if (!watch_->submit(std::move(watched)).ok()) watched();
  }

  void precede(const Timeline& next) const { timeline_->precede(next, number_); }
  // False for a run that failed: only is_over() asks the driver.
  bool has_ended() const { return timeline_->over() >= number_; }

 private:
  // The outcome may be gone once somebody knows that the run is over, so only the first to know tells a failure.
  template <class Ask>
  bool is_known(const Ask& ask) {
    try {
      if (!ask()) return false;
      tell(nullptr);
    } catch (const std::bad_alloc&) {
      tell(host::kMemoryIsExhausted);
    } catch (const std::exception& error) {
      tell(error.what());
    }
    return true;
  }
  void tell(const char* failure) {
    if (host::process_is_forked()) return;  // a thread that is not there may hold the lock
    const std::lock_guard lock(mutex_);
    if (!std::exchange(told_, true) && failure != nullptr) outcome_.fail({failure});
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

// A fence that is over is told, too, while an action of an earlier one is at work: nothing may overtake that.
host::FenceRef Stream::fence() {
  if (last_ && last_->has_ended() && last_->is_over() && watch_->run_if_idle([] {})) last_.reset();
  return last_;
}

void Stream::follow(const host::FenceRef& fence) {
  if (!fence || fence == last_) return;
  if (const auto own = std::dynamic_pointer_cast<Fence>(fence)) own->precede(timeline());
  else fence->wait();
}

// Small steps come every few microseconds, and to be woken takes as long.
std::chrono::microseconds Stream::awake() const {
  constexpr unsigned kThreads = 4;  // the one that submits, those of items_ and watch_, and the one for handlers
  static const bool has_threads = std::thread::hardware_concurrency() > kThreads;  // asking takes microseconds
  return std::chrono::microseconds(has_threads ? 50 : 0);
}

// To call the driver takes a third of a small step's time on the host: while such steps come, two threads share it.
host::Status Stream::begin(std::function<void()> work) {
  const Clock::time_point now = Clock::now();
  const bool is_shared = now - begin_.exchange(now, std::memory_order_relaxed) < awake();
  return !is_shared && items_.run_if_idle(work) ? host::Status() : items_.submit(std::move(work));
}

void Stream::add_run(device::Outcome& outcome, const std::vector<CUdeviceptr>& arrays,
                     const std::vector<CUdeviceptr>& bytes) {
  last_ = std::allocate_shared<Fence>(host::Recycler<Fence>(), timeline_, ++begun_, outcome, watch_);
  written_ = arrays;
  written_bytes_ = bytes;
}

bool Stream::writes(CUdeviceptr begin, CUdeviceptr bytes) const {
  for (size_t i = 0; i < written_.size(); ++i) {
    if (begin < written_[i] + written_bytes_[i] && written_[i] < begin + bytes) return true;
  }
  return false;
}

}  // namespace alloy::cuda
