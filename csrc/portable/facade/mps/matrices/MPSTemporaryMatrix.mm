// Matrices that live as long as their command buffer needs them.

#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

@implementation MPSTemporaryMatrix

+ (instancetype)temporaryMatrixWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                matrixDescriptor:(MPSMatrixDescriptor*)matrixDescriptor {
  id<MTLBuffer> room = temporary_buffer(commandBuffer, bytes_of(matrixDescriptor));
  MPSTemporaryMatrix* made = [[self alloc] initWithBuffer:room offset:0 descriptor:matrixDescriptor];
  keep_until_done(commandBuffer, made);
  return [made autorelease];
}

+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                    matrixDescriptorList:(NSArray<MPSMatrixDescriptor*>*)descriptorList {
  owner_of(commandBuffer);  // raises if it is no command buffer
  require_elements(descriptorList, [MPSMatrixDescriptor class]);
}

- (NSUInteger)readCount {
  return parts_of(self).reads_left;
}

- (void)setReadCount:(NSUInteger)readCount {
  set_reads_left(parts_of(self).reads_left, readCount);
}

@end
