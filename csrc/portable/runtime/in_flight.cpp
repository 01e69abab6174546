// Places of a queue.

#include "runtime/in_flight.h"

#include <chrono>
#include <utility>

#include "device/work_queue.h"

namespace alloy::runtime {

InFlight::Place::~Place() {
  if (device::process_is_forked()) return;
  std::lock_guard lock(owner_->mutex_);
  ++owner_->free_;
  owner_->given_back_.notify_one();
}

std::unique_ptr<InFlight::Place> InFlight::take() {
  std::unique_lock lock(mutex_);
  while (free_ == 0) {
    if (device::process_is_ending()) return nullptr;
    given_back_.wait_for(lock, device::kLookInterval);
  }
  --free_;
  return std::make_unique<Place>(shared_from_this());
}

}  // namespace alloy::runtime
