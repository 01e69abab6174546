// A command buffer that forwards messages to the one being encoded now.

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "facade/metal/metal.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

id<MTLCommandBuffer> wrapped(MPSCommandBuffer* buffer) { return static_cast<id<MTLCommandBuffer>>(buffer->_impl); }

}  // namespace

@implementation MPSCommandBuffer

@synthesize predicate = _predicate;

+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  return [[[self alloc] initWithCommandBuffer:commandBuffer] autorelease];
}

+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)commandQueue {
  owner_of(commandQueue);  // raises if it is no queue
  return [self commandBufferWithCommandBuffer:[commandQueue commandBuffer]];
}

- (instancetype)initWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  owner_of(commandBuffer);  // raises if it is no command buffer
  if ((self = [super init])) _impl = [commandBuffer retain];
  return self;
}

- (instancetype)init {
  raise_invalid(@"[MPSCommandBuffer] Use one of the factories instead of init.");
}

- (void)setPredicate:(MPSPredicate*)predicate {
  require_kind_or_nil(predicate, [MPSPredicate class]);
  [_predicate autorelease];
  _predicate = [predicate retain];
}

- (void)dealloc {
  [_predicate release];
  [wrapped(self) release];
  [super dealloc];
}

- (id<MTLCommandBuffer>)commandBuffer {
  return wrapped(self);
}

- (id<MTLCommandBuffer>)rootCommandBuffer {
  id<MTLCommandBuffer> root = wrapped(self);
  if ([(id)root isKindOfClass:[MPSCommandBuffer class]]) return [(MPSCommandBuffer*)root rootCommandBuffer];
  return root;
}

- (void)commitAndContinue {
  id<MTLCommandBuffer> present = wrapped(self);
  if ([(id)present isKindOfClass:[MPSCommandBuffer class]]) {
    [(MPSCommandBuffer*)present commitAndContinue];
    return;
  }
  id provider = heap_provider_of(present);
  [present commit];
  // After the commit, because a queue may allow only one command buffer at a time.
  id<MTLCommandBuffer> next = [[[present commandQueue] commandBuffer] retain];
  if (provider) set_heap_provider(next, provider);
  _impl = next;
  [present release];
}

- (void)prefetchHeapForWorkloadSize:(size_t)size {
  (void)size;
}

- (id<MPSHeapProvider>)heapProvider {
  return heap_provider_of(self);
}

- (void)setHeapProvider:(id<MPSHeapProvider>)heapProvider {
  set_heap_provider(self, heapProvider);
}

- (id<MTLDevice>)device {
  return [wrapped(self) device];
}

- (id<MTLCommandQueue>)commandQueue {
  return [wrapped(self) commandQueue];
}

- (NSString*)label {
  return [wrapped(self) label];
}

- (void)setLabel:(NSString*)label {
  [wrapped(self) setLabel:label];
}

- (BOOL)retainedReferences {
  return [wrapped(self) retainedReferences];
}

- (MTLCommandBufferErrorOption)errorOptions {
  return [wrapped(self) errorOptions];
}

- (CFTimeInterval)kernelStartTime {
  return [wrapped(self) kernelStartTime];
}

- (CFTimeInterval)kernelEndTime {
  return [wrapped(self) kernelEndTime];
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return [wrapped(self) blitCommandEncoder];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [wrapped(self) computeCommandEncoder];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType {
  return [wrapped(self) computeCommandEncoderWithDispatchType:dispatchType];
}

- (void)pushDebugGroup:(NSString*)string {
  [wrapped(self) pushDebugGroup:string];
}

- (void)popDebugGroup {
  [wrapped(self) popDebugGroup];
}

- (CFTimeInterval)GPUStartTime {
  return [wrapped(self) GPUStartTime];
}

- (CFTimeInterval)GPUEndTime {
  return [wrapped(self) GPUEndTime];
}

- (MTLCommandBufferStatus)status {
  return [wrapped(self) status];
}

- (NSError*)error {
  return [wrapped(self) error];
}

- (void)enqueue {
  [wrapped(self) enqueue];
}

- (void)commit {
  [wrapped(self) commit];
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  [wrapped(self) addScheduledHandler:block];
}

- (void)waitUntilScheduled {
  [wrapped(self) waitUntilScheduled];
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  [wrapped(self) addCompletedHandler:block];
}

- (void)waitUntilCompleted {
  [wrapped(self) waitUntilCompleted];
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [wrapped(self) encodeWaitForEvent:event value:value];
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  [wrapped(self) encodeSignalEvent:event value:value];
}

@end
