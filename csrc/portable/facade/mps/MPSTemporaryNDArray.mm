// Arrays that live as long as their command buffer needs them.

#include "facade/mps/arrays.h"

using namespace alloy::facade;

@implementation MPSTemporaryNDArray

+ (id<MPSNDArrayAllocator>)defaultAllocator {
  static const id<MPSNDArrayAllocator> allocator = new_array_allocator(YES);
  return allocator;
}

+ (instancetype)temporaryNDArrayWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                       descriptor:(MPSNDArrayDescriptor*)descriptor {
  return static_cast<MPSTemporaryNDArray*>([new_temporary_array(self, commandBuffer, descriptor) autorelease]);
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  raise_invalid(@"[MPSTemporaryNDArray] Use temporaryNDArrayWithCommandBuffer:descriptor: instead.");
}

- (NSUInteger)readCount {
  return reads_left(self);
}

- (void)setReadCount:(NSUInteger)readCount {
  set_reads_left(reads_left(self), readCount);
}

@end
