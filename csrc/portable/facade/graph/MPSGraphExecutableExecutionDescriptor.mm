// Options for a run of an executable: handlers, events, flags.

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

RUN_DESCRIPTOR(MPSGraphExecutableScheduledHandler, MPSGraphExecutableCompletionHandler)

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphExecutableExecutionDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setScheduledHandler:[self scheduledHandler]];
  [copy setCompletionHandler:[self completionHandler]];
  [copy setWaitUntilCompleted:[self waitUntilCompleted]];
  parts_of(copy).events = parts_of(self).events;
  return copy;
}

@end
