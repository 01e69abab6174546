// Matrices in a buffer.

#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

namespace alloy::facade {

MatrixParts& parts_of(MPSMatrix* matrix) {
  static const Class our_class = [MPSMatrix class];
  require_kind(matrix, our_class);
  return *static_cast<MatrixParts*>(matrix->_impl);
}

}  // namespace alloy::facade

@implementation MPSMatrix

- (instancetype)init {
  raise_invalid(@"[MPSMatrix] Use one of the initialisers with a descriptor instead of init.");
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor {
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor {
  MatrixParts* parts = new_parts(buffer, offset, descriptor);
  if ((self = [super init])) _impl = parts;
  return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSMatrixDescriptor*)descriptor {
  id<MTLBuffer> buffer = room_on(device, bytes_of(descriptor), MTLResourceStorageModeShared, @"MPSMatrix");
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (void)dealloc {
  delete_parts(_impl);
  [super dealloc];
}

- (id<MTLDevice>)device {
  return [parts_of(self).buffer device];
}

- (NSUInteger)rows {
  return parts_of(self).rows;
}

- (NSUInteger)columns {
  return parts_of(self).columns;
}

- (NSUInteger)matrices {
  return parts_of(self).matrices;
}

- (NSUInteger)rowBytes {
  return parts_of(self).row_bytes;
}

- (NSUInteger)matrixBytes {
  return parts_of(self).matrix_bytes;
}

- (NSUInteger)offset {
  return parts_of(self).offset;
}

- (MPSDataType)dataType {
  return parts_of(self).type;
}

- (id<MTLBuffer>)data {
  return parts_of(self).buffer;
}

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  owner_of(commandBuffer);  // raises for what is no command buffer
}

- (NSUInteger)resourceSize {
  return [parts_of(self).buffer allocatedSize];
}

@end
