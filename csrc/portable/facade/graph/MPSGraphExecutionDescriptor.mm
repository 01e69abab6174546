// Options for a run of a graph: handlers, events, flags.

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

RUN_DESCRIPTOR(MPSGraphScheduledHandler, MPSGraphCompletionHandler)

- (MPSGraphCompilationDescriptor*)compilationDescriptor {
  return parts_of(self).compilation_descriptor.get();
}

- (void)setCompilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  require_kind_or_nil(compilationDescriptor, [MPSGraphCompilationDescriptor class]);
  parts_of(self).compilation_descriptor.set([compilationDescriptor copy]);
}

@end
