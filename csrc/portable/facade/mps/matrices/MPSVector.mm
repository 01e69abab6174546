// Vectors in a buffer.

#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

namespace alloy::facade {

MatrixParts& parts_of(MPSVector* vector) {
  static const Class our_class = [MPSVector class];
  require_kind(vector, our_class);
  return *static_cast<MatrixParts*>(vector->_impl);
}

}  // namespace alloy::facade

@implementation MPSVector

- (instancetype)init {
  raise_invalid(@"[MPSVector] Use one of the initialisers with a descriptor instead of init.");
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor*)descriptor {
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor*)descriptor {
  MatrixParts* parts = new_parts(buffer, offset, descriptor);
  if ((self = [super init])) _impl = parts;
  return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSVectorDescriptor*)descriptor {
  id<MTLBuffer> buffer = room_on(device, bytes_of(descriptor), MTLResourceStorageModeShared, @"MPSVector");
  return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (void)dealloc {
  delete_parts(_impl);
  [super dealloc];
}

- (id<MTLDevice>)device {
  return [parts_of(self).buffer device];
}

- (NSUInteger)length {
  return parts_of(self).columns;
}

- (NSUInteger)vectors {
  return parts_of(self).matrices;
}

- (NSUInteger)vectorBytes {
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
