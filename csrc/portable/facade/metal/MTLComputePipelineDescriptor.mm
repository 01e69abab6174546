// Options of a compute pipeline, of which this device has none.

#import <Metal/Metal.h>

#include "facade/descriptor.h"

using namespace alloy::facade;

namespace {

struct PipelineFields {
  Retained<NSString*> label;
  Retained<id> computeFunction;
  BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth = NO;
  NSUInteger maxTotalThreadsPerThreadgroup = 0;
};

}  // namespace

@implementation MTLComputePipelineDescriptor

DESCRIPTOR_LIFE(PipelineFields, {})
DESCRIPTOR_OBJECT(PipelineFields, NSString*, label, setLabel, copy, [NSString class])
DESCRIPTOR_OBJECT(PipelineFields, id, computeFunction, setComputeFunction, retain, Nil, @"MTLFunction")
DESCRIPTOR_FIELD(PipelineFields, BOOL, threadGroupSizeIsMultipleOfThreadExecutionWidth,
                 setThreadGroupSizeIsMultipleOfThreadExecutionWidth)
DESCRIPTOR_FIELD(PipelineFields, NSUInteger, maxTotalThreadsPerThreadgroup, setMaxTotalThreadsPerThreadgroup)

- (void)reset {
  *static_cast<PipelineFields*>(_impl) = {};
}

@end

@implementation MTLComputePipelineReflection
@end
