// The end of work that a device has begun.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace alloy::host {

// Every member may be called from every thread.
class Fence {
 public:
  virtual ~Fence() = default;
  virtual bool is_over() = 0;
  // Blocks until the work is over, or until the process ends first.
  virtual void wait() = 0;
  // Calls `action` once, as soon as the work is over: now, or later on a thread of the device, which must not wait.
  virtual void then(std::function<void()> action) = 0;
};

// Null for work that is over, as it always is on a device that computes in the caller's thread.
using FenceRef = std::shared_ptr<Fence>;

inline void wait_for(const FenceRef& fence) {
  if (fence) fence->wait();
}

template <class Action>
void after(const FenceRef& fence, Action action) {
  if (fence) fence->then(std::move(action));
  else action();
}

}  // namespace alloy::host
