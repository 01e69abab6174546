// Options of a command buffer.

#import <Metal/Metal.h>

#include "facade/descriptor.h"

using namespace alloy::facade;

namespace {

struct CommandBufferFields {
  BOOL retainedReferences = YES;
  MTLCommandBufferErrorOption errorOptions = MTLCommandBufferErrorOptionNone;
  Retained<id> logState;
};

}  // namespace

@implementation MTLCommandBufferDescriptor

DESCRIPTOR_LIFE(CommandBufferFields, {})
DESCRIPTOR_FIELD(CommandBufferFields, BOOL, retainedReferences, setRetainedReferences)
DESCRIPTOR_FIELD(CommandBufferFields, MTLCommandBufferErrorOption, errorOptions, setErrorOptions)
DESCRIPTOR_OBJECT(CommandBufferFields, id, logState, setLogState, retain, Nil, @"MTLLogState")

@end
