// The parts of the descriptors of runs and compilations. Only these include it.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <atomic>
#include <mutex>

#include "facade/descriptor.h"
#include "facade/imitation.h"
#include "facade/metal/metal.h"

namespace alloy::facade {

// An object property that several threads may set and read.
class AtomicProperty {
 public:
  AtomicProperty() = default;
  AtomicProperty(const AtomicProperty&) = delete;
  AtomicProperty& operator=(const AtomicProperty&) = delete;
  ~AtomicProperty() { [object_ release]; }

  id get() const {
    if (is_nil_.load(std::memory_order_acquire)) return nil;
    std::lock_guard lock(mutex_);
    return [[object_ retain] autorelease];
  }

  // Takes over the caller's ownership of `object`.
  void set(id object) {
    id old;
    {
      std::lock_guard lock(mutex_);
      old = std::exchange(object_, object);
      is_nil_.store(object == nil, std::memory_order_release);
    }
    [old release];
  }

 private:
  mutable std::mutex mutex_;
  id object_ = nil;
  std::atomic<bool> is_nil_{true};
};

// Keeps a copy of a handler.
inline void keep_handler(AtomicProperty& property, id handler, NSString* method) {
  static const Class on_the_stack = objc_lookUpClass("AlloyStackBlock");
  if (object_getClass(handler) == on_the_stack) abort_where(ir::Quirk::handler_on_the_stack, method);
  property.set([handler copy]);
}

// The fields of the descriptors of runs.
struct RunParts {
  AtomicProperty scheduled_handler;
  AtomicProperty completion_handler;
  AtomicProperty compilation_descriptor;
  std::atomic<bool> wait_until_completed{false};
  host::EventList events;
};

inline void add_signal(host::EventList& events, id<MTLSharedEvent> event, MPSGraphExecutionStage stage,
                       uint64_t value) {
  if (stage != MPSGraphExecutionStageCompleted) {
    raise_invalid(@"[signalEvent] The execution stage is %llu, but Completed is the only one.",
                  static_cast<unsigned long long>(stage));
  }
  events.add_signal(event_of(event), value);
}

}  // namespace alloy::facade

// The methods that the descriptors of runs share; the types of their handlers differ.
#define RUN_DESCRIPTOR(ScheduledHandler, CompletionHandler)                                                \
  FIELDS_LIFE(RunParts, {})                                                                                \
  GETTER(ScheduledHandler, scheduledHandler, (ScheduledHandler)parts_of(self).scheduled_handler.get())     \
  GETTER(CompletionHandler, completionHandler, (CompletionHandler)parts_of(self).completion_handler.get()) \
  PROPERTY(BOOL, waitUntilCompleted, setWaitUntilCompleted, parts_of(self).wait_until_completed)           \
  METHOD(void, takes(setScheduledHandler, ScheduledHandler)) {                                             \
    require_block_or_nil((id)setScheduledHandler);                                                         \
    keep_handler(parts_of(self).scheduled_handler, (id)setScheduledHandler, @"setScheduledHandler");       \
  }                                                                                                        \
  METHOD(void, takes(setCompletionHandler, CompletionHandler)) {                                           \
    require_block_or_nil((id)setCompletionHandler);                                                        \
    keep_handler(parts_of(self).completion_handler, (id)setCompletionHandler, @"setCompletionHandler");    \
  }                                                                                                        \
  METHOD(void, takes(waitForEvent, id<MTLSharedEvent>), takes(value, uint64_t)) {                          \
    parts_of(self).events.add_wait(event_of(waitForEvent), value);                                         \
  }                                                                                                        \
  METHOD(void, takes(signalEvent, id<MTLSharedEvent>), takes(atExecutionEvent, MPSGraphExecutionStage),    \
         takes(value, uint64_t)) {                                                                         \
    add_signal(parts_of(self).events, signalEvent, atExecutionEvent, value);                               \
  }
