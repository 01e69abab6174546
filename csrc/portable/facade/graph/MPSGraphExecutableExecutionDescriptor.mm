// Wishes for a run of an executable: handlers, events, flags.

#include "facade/graph/descriptor_parts.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

RunParts& parts_of(MPSGraphExecutableExecutionDescriptor* descriptor) {
  return *static_cast<RunParts*>(descriptor->_impl);
}

}  // namespace

namespace alloy::facade {

const host::EventList& events_of(MPSGraphExecutableExecutionDescriptor* descriptor) {
  static const host::EventList& none = *new host::EventList;
  return descriptor ? parts_of(descriptor).events : none;
}

}  // namespace alloy::facade

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
  require_block_or_nil((id)scheduledHandler);
  keep_handler(parts_of(self).scheduled_handler, (id)scheduledHandler, @"setScheduledHandler");
}

- (MPSGraphExecutableCompletionHandler)completionHandler {
  return (MPSGraphExecutableCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompletionHandler:(MPSGraphExecutableCompletionHandler)completionHandler {
  require_block_or_nil((id)completionHandler);
  keep_handler(parts_of(self).completion_handler, (id)completionHandler, @"setCompletionHandler");
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
