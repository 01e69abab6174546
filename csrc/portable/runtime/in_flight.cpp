// Counting of command buffers in flight.

#include "runtime/in_flight.h"

#include <chrono>
#include <utility>

#include "host/work_queue.h"

namespace alloy::runtime {

InFlight::Permit::~Permit() {
  if (host::process_is_forked()) return;
  std::lock_guard lock(owner_->mutex_);
  ++owner_->free_;
  owner_->given_back_.notify_one();
}

std::unique_ptr<InFlight::Permit> InFlight::take() {
  std::unique_lock lock(mutex_);
  while (free_ == 0) {
    if (host::process_is_ending()) return nullptr;
    given_back_.wait_for(lock, host::kLookInterval);
  }
  --free_;
  return std::make_unique<Permit>(shared_from_this());
}

}  // namespace alloy::runtime
