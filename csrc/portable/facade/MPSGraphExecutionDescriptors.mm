// Wishes for compiling and running: handlers, events, flags.

#include <atomic>
#include <mutex>

#include "facade/FacadePrivate.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

// An object property that several threads may set and read.
class Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { [object_ release]; }

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

struct RunParts {
  Slot scheduled_handler;
  Slot completion_handler;
  Slot compilation_descriptor;
  std::atomic<bool> wait_until_completed{false};
  device::EventList events;
};

RunParts& parts_of(MPSGraphExecutionDescriptor* descriptor) { return *static_cast<RunParts*>(descriptor->_impl); }

RunParts& parts_of(MPSGraphExecutableExecutionDescriptor* descriptor) {
  return *static_cast<RunParts*>(descriptor->_impl);
}

struct CompilationParts {
  MPSGraphOptimization level = MPSGraphOptimizationLevel1;
  MPSGraphOptimizationProfile profile = MPSGraphOptimizationProfilePerformance;
  bool wait_for_completion = false;
  Slot completion_handler;
  Slot dispatch_queue;
};

CompilationParts& parts_of(MPSGraphCompilationDescriptor* descriptor) {
  return *static_cast<CompilationParts*>(descriptor->_impl);
}

void add_signal(device::EventList& events, id<MTLSharedEvent> event, MPSGraphExecutionStage stage, uint64_t value) {
  if (stage != MPSGraphExecutionStageCompleted) {
    raise_invalid(@"[signalEvent] The execution stage is %llu, but Completed is the only one.",
                  static_cast<unsigned long long>(stage));
  }
  events.add_signal(event_of(event), value);
}

}  // namespace

namespace alloy::facade {

const device::EventList& events_of(MPSGraphExecutionDescriptor* descriptor) {
  static const device::EventList& none = *new device::EventList;
  return descriptor ? parts_of(descriptor).events : none;
}

const device::EventList& events_of(MPSGraphExecutableExecutionDescriptor* descriptor) {
  static const device::EventList& none = *new device::EventList;
  return descriptor ? parts_of(descriptor).events : none;
}

}  // namespace alloy::facade

@implementation MPSGraphCompilationDescriptor

- (instancetype)init {
  if ((self = [super init])) _impl = new CompilationParts;
  return self;
}

- (void)dealloc {
  delete static_cast<CompilationParts*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphCompilationDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setOptimizationLevel:[self optimizationLevel]];
  [copy setOptimizationProfile:[self optimizationProfile]];
  [copy setWaitForCompilationCompletion:[self waitForCompilationCompletion]];
  [copy setCompilationCompletionHandler:[self compilationCompletionHandler]];
  [copy setDispatchQueue:[self dispatchQueue]];
  return copy;
}

// Types are always known here once the operands are, so there is nothing to disable.
- (void)disableTypeInference {
}

- (MPSGraphOptimization)optimizationLevel {
  return parts_of(self).level;
}

- (void)setOptimizationLevel:(MPSGraphOptimization)optimizationLevel {
  parts_of(self).level = optimizationLevel;
}

- (MPSGraphOptimizationProfile)optimizationProfile {
  return parts_of(self).profile;
}

- (void)setOptimizationProfile:(MPSGraphOptimizationProfile)optimizationProfile {
  parts_of(self).profile = optimizationProfile;
}

- (BOOL)waitForCompilationCompletion {
  return parts_of(self).wait_for_completion;
}

- (void)setWaitForCompilationCompletion:(BOOL)waitForCompilationCompletion {
  parts_of(self).wait_for_completion = waitForCompilationCompletion;
}

- (MPSGraphCompilationCompletionHandler)compilationCompletionHandler {
  return (MPSGraphCompilationCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompilationCompletionHandler:(MPSGraphCompilationCompletionHandler)compilationCompletionHandler {
  parts_of(self).completion_handler.set([(id)compilationCompletionHandler copy]);
}

- (dispatch_queue_t)dispatchQueue {
  return static_cast<dispatch_queue_t>(parts_of(self).dispatch_queue.get());
}

- (void)setDispatchQueue:(dispatch_queue_t)dispatchQueue {
  parts_of(self).dispatch_queue.set([dispatchQueue retain]);
}

@end

@implementation MPSGraphExecutionDescriptor

- (instancetype)init {
  if ((self = [super init])) _impl = new RunParts;
  return self;
}

- (void)dealloc {
  delete static_cast<RunParts*>(_impl);
  [super dealloc];
}

- (MPSGraphScheduledHandler)scheduledHandler {
  return (MPSGraphScheduledHandler)parts_of(self).scheduled_handler.get();
}

- (void)setScheduledHandler:(MPSGraphScheduledHandler)scheduledHandler {
  parts_of(self).scheduled_handler.set([(id)scheduledHandler copy]);
}

- (MPSGraphCompletionHandler)completionHandler {
  return (MPSGraphCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompletionHandler:(MPSGraphCompletionHandler)completionHandler {
  parts_of(self).completion_handler.set([(id)completionHandler copy]);
}

- (BOOL)waitUntilCompleted {
  return parts_of(self).wait_until_completed.load();
}

- (void)setWaitUntilCompleted:(BOOL)waitUntilCompleted {
  parts_of(self).wait_until_completed.store(waitUntilCompleted);
}

- (MPSGraphCompilationDescriptor*)compilationDescriptor {
  return parts_of(self).compilation_descriptor.get();
}

- (void)setCompilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  parts_of(self).compilation_descriptor.set([compilationDescriptor copy]);
}

- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value {
  parts_of(self).events.add_wait(event_of(event), value);
}

- (void)signalEvent:(id<MTLSharedEvent>)event
    atExecutionEvent:(MPSGraphExecutionStage)executionStage
               value:(uint64_t)value {
  add_signal(parts_of(self).events, event, executionStage, value);
}

@end

@implementation MPSGraphExecutableExecutionDescriptor

- (instancetype)init {
  if ((self = [super init])) _impl = new RunParts;
  return self;
}

- (void)dealloc {
  delete static_cast<RunParts*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphExecutableExecutionDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setScheduledHandler:[self scheduledHandler]];
  [copy setCompletionHandler:[self completionHandler]];
  [copy setWaitUntilCompleted:[self waitUntilCompleted]];
  parts_of(copy).events = parts_of(self).events;
  return copy;
}

- (MPSGraphExecutableScheduledHandler)scheduledHandler {
  return (MPSGraphExecutableScheduledHandler)parts_of(self).scheduled_handler.get();
}

- (void)setScheduledHandler:(MPSGraphExecutableScheduledHandler)scheduledHandler {
  parts_of(self).scheduled_handler.set([(id)scheduledHandler copy]);
}

- (MPSGraphExecutableCompletionHandler)completionHandler {
  return (MPSGraphExecutableCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompletionHandler:(MPSGraphExecutableCompletionHandler)completionHandler {
  parts_of(self).completion_handler.set([(id)completionHandler copy]);
}

- (BOOL)waitUntilCompleted {
  return parts_of(self).wait_until_completed.load();
}

- (void)setWaitUntilCompleted:(BOOL)waitUntilCompleted {
  parts_of(self).wait_until_completed.store(waitUntilCompleted);
}

- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value {
  parts_of(self).events.add_wait(event_of(event), value);
}

- (void)signalEvent:(id<MTLSharedEvent>)event
    atExecutionEvent:(MPSGraphExecutionStage)executionStage
               value:(uint64_t)value {
  add_signal(parts_of(self).events, event, executionStage, value);
}

@end
