// Vectors that live as long as their command buffer needs them.

#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

@implementation MPSTemporaryVector

+ (instancetype)temporaryVectorWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                      descriptor:(MPSVectorDescriptor*)descriptor {
  id<MTLBuffer> room = temporary_buffer(commandBuffer, bytes_of(descriptor));
  MPSTemporaryVector* made = [[self alloc] initWithBuffer:room offset:0 descriptor:descriptor];
  keep_until_done(commandBuffer, made);
  return [made autorelease];
}

+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                          descriptorList:(NSArray<MPSVectorDescriptor*>*)descriptorList {
  owner_of(commandBuffer);  // raises if it is no command buffer
  require_elements(descriptorList, [MPSVectorDescriptor class]);
}

- (NSUInteger)readCount {
  return parts_of(self).reads_left;
}

- (void)setReadCount:(NSUInteger)readCount {
  set_reads_left(parts_of(self).reads_left, readCount);
}

@end
