#include "engine/queue.h"

#include <algorithm>
#include <chrono>
#include <thread>

#import "engine/device.h"
#include "engine/interruption.h"
#include "engine/process.h"
#import "engine/queue_impl.h"
#include "ir/op.h"

// MTLSharedEvent's own method, which headers before macOS 15 lack.
@protocol AlloyTimedWait
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@end

namespace alloy::engine {

Event::Event() : impl_(std::make_unique<Impl>()) {
  const Entry entry;
  on_device([&] { impl_->event = Ref<id<MTLSharedEvent>>::adopt([metal_device() newSharedEvent]); });
}

Event::~Event() = default;

uint64_t Event::value() const {
  const Entry entry;
  uint64_t value = 0;
  on_device([&] { value = [impl_->event.get() signaledValue]; });
  return value;
}

void Event::signal(uint64_t value) {
  const uint64_t now = this->value();
  if (value < now) {
    throw ir::Error(ir::Error::Kind::kValue, "[signal] Expected a value of at least " + std::to_string(now) +
                                                 ", which the event has reached, got " + std::to_string(value) + ".");
  }
  const Entry entry;
  on_device([&] { [impl_->event.get() setSignaledValue:value]; });
}

namespace {

// True if the value is reached within `milliseconds`, which should be few.
bool is_reached(id<MTLSharedEvent> event, uint64_t value, int64_t milliseconds) {
  const id waits = static_cast<id>(event);
  if ([waits respondsToSelector:@selector(waitUntilSignaledValue:timeoutMS:)]) {
    return [static_cast<id<AlloyTimedWait>>(waits) waitUntilSignaledValue:value
                                                                timeoutMS:static_cast<uint64_t>(milliseconds)] != NO;
  }
  for (; milliseconds > 0 && [event signaledValue] < value; --milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return [event signaledValue] >= value;
}

}  // namespace

bool Event::wait(uint64_t value, std::optional<double> timeout) const {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    double left = Seconds(kAskInterval).count();
    if (timeout) left = std::min(left, *timeout - Seconds(std::chrono::steady_clock::now() - start).count());
    bool reached = false;
    {
      const Entry entry;
      const auto milliseconds = static_cast<int64_t>(std::max(left, 0.0) * 1000 + 0.999);
      on_device([&] { reached = is_reached(impl_->event.get(), value, milliseconds); });
    }
    if (reached || left <= 0) return reached;
    ask_for_interruption();
  }
}

Queue::Queue(const std::string& device) : impl_(std::make_unique<Impl>()) {
  const Entry entry;
  const Ref<id<MTLDevice>> found = find_device(device, "queue");
  on_device([&] { impl_->queue = Ref<id<MTLCommandQueue>>::adopt([found.get() newCommandQueue]); });
}

Queue::~Queue() = default;

std::string Queue::device_name() const {
  std::string name;
  on_device([&] { name = [[[impl_->queue.get() device] name] UTF8String]; });
  return name;
}

}  // namespace alloy::engine
