// Wishes for a run of a graph: handlers, events, flags.

#include "facade/graph/descriptor_parts.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

RunParts& parts_of(MPSGraphExecutionDescriptor* descriptor) { return *static_cast<RunParts*>(descriptor->_impl); }

}  // namespace

namespace alloy::facade {

const host::EventList& events_of(MPSGraphExecutionDescriptor* descriptor) {
  static const host::EventList& none = *new host::EventList;
  return descriptor ? parts_of(descriptor).events : none;
}

}  // namespace alloy::facade

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
  require_block_or_nil((id)scheduledHandler);
  keep_handler(parts_of(self).scheduled_handler, (id)scheduledHandler, @"setScheduledHandler");
}

- (MPSGraphCompletionHandler)completionHandler {
  return (MPSGraphCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompletionHandler:(MPSGraphCompletionHandler)completionHandler {
  require_block_or_nil((id)completionHandler);
  keep_handler(parts_of(self).completion_handler, (id)completionHandler, @"setCompletionHandler");
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
  require_kind_or_nil(compilationDescriptor, [MPSGraphCompilationDescriptor class]);
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
