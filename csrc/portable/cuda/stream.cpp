#include "cuda/stream.h"

#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace alloy::cuda {

// An event of the driver behind a run. In a forked child and at the end of the process all work counts as over.
class Fence final : public host::Fence, public std::enable_shared_from_this<Fence> {
 public:
  Fence(const Context& context, CUstream stream, device::Outcome& outcome, std::shared_ptr<host::WorkQueue> watch)
      : context_(context), outcome_(outcome), watch_(std::move(watch)) {
    const Driver& driver = context.enter();
    driver.check(driver.event_create(&event_, kBlockingSync | kDisableTiming), "cuEventCreate");
    driver.check(driver.event_record(event_, stream), "cuEventRecord");
  }
  ~Fence() override {
    ask([&](const Driver& driver) { return driver.event_destroy(event_); });
  }

  bool is_over() override {
    const CUresult result = ask([&](const Driver& driver) { return driver.event_query(event_); });
    if (result == kNotReady) return false;
    tell(result);
    return true;
  }
  void wait() override {
    tell(ask([&](const Driver& driver) { return driver.event_synchronize(event_); }));
  }
  void then(std::function<void()> action) override {
    auto watched = [self = shared_from_this(), action] {
      self->wait();
      action();
    };
    if (!watch_->submit(watched).ok()) watched();
  }
  void precede(CUstream stream) const {
    const Driver& driver = context_.enter();
    driver.check(driver.stream_wait(stream, event_, 0), "cuStreamWaitEvent");
  }

 private:
  // The driver's answer, or that all is well.
  template <class F>
  CUresult ask(const F& question) const {
    try {
      return question(context_.enter());
    } catch (const std::exception&) {
      return 0;
    }
  }

  // The outcome may be gone once somebody knows that the run is over.
  void tell(CUresult result) {
    std::lock_guard lock(mutex_);
    if (std::exchange(told_, true) || result == 0) return;
    try {
      context_.enter().check(result, "A run on the GPU");
    } catch (const std::exception& error) {
      outcome_.fail({error.what()});
    }
  }

  const Context& context_;
  CUevent event_ = nullptr;
  std::mutex mutex_;
  bool told_ = false;
  device::Outcome& outcome_;
  const std::shared_ptr<host::WorkQueue> watch_;
};

// Work that has begun goes on.
Stream::~Stream() {
  if (stream_ == nullptr) return;
  try {
    static_cast<void>(context_.enter().stream_destroy(stream_));
  } catch (const std::exception&) {
    // At the end of the process the driver has ended all streams.
  }
}

CUstream Stream::handle() {
  if (stream_ == nullptr) {
    const Driver& driver = context_.enter();
    driver.check(driver.stream_create(&stream_, kNonBlocking), "cuStreamCreate");
  }
  return stream_;
}

host::FenceRef Stream::fence() {
  if (last_ && last_->is_over()) last_.reset();
  return last_;
}

void Stream::follow(const host::FenceRef& fence) {
  if (!fence || fence == last_) return;
  if (const auto own = std::dynamic_pointer_cast<Fence>(fence)) own->precede(handle());
  else fence->wait();
}

void Stream::end_run(device::Outcome& outcome) { last_ = std::make_shared<Fence>(context_, stream_, outcome, watch_); }

}  // namespace alloy::cuda
