// How runs that belong together went.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "host/work_queue.h"

namespace alloy::device {

// The first failure among the commands of a list. What comes behind it in the list is skipped. Every member may be
// called from every thread.
class Outcome {
 public:
  bool ok() const noexcept { return !failed_.load(std::memory_order_acquire); }

  // Does nothing if there is a failure already.
  void fail(host::Status failure) {
    std::lock_guard lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(failure);
    failed_.store(true, std::memory_order_release);
  }

  host::Status status() const {
    if (ok()) return {};
    std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  host::Status failure_;
};

}  // namespace alloy::device
