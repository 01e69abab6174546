// Lengths and positions of vectors in a buffer.

#include "facade/descriptor.h"
#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

namespace {

struct VectorFields {
  NSUInteger length = 0, vectors = 1, vectorBytes = 0;
  MPSDataType dataType = MPSDataTypeFloat32;
};

VectorFields& fields_of(MPSVectorDescriptor* descriptor) { return *static_cast<VectorFields*>(descriptor->_impl); }

}  // namespace

@implementation MPSVectorDescriptor

+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType {
  const NSUInteger bytes = length * element_bytes(dataType, @"vectorDescriptorWithLength");
  return [self vectorDescriptorWithLength:length vectors:1 vectorBytes:bytes dataType:dataType];
}

+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType {
  require_valid({nil, 0, 1, length, vectors, vectorBytes, vectorBytes, dataType, 1}, @"MPSVectorDescriptor");
  MPSVectorDescriptor* descriptor = [[self new] autorelease];
  fields_of(descriptor) = {length, vectors, vectorBytes, dataType};
  return descriptor;
}

+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType {
  return padded_bytes(length * element_bytes(dataType, @"vectorBytesForLength"));
}

FIELDS_LIFE(VectorFields, {})
DESCRIPTOR_FIELD(VectorFields, NSUInteger, length, setLength)
GETTER(NSUInteger, vectors, fields_of(self).vectors)
GETTER(MPSDataType, dataType, fields_of(self).dataType)

- (void)setDataType:(MPSDataType)dataType {
  element_bytes(dataType, @"setDataType");
  fields_of(self).dataType = dataType;
}

- (NSUInteger)vectorBytes {
  const VectorFields& fields = fields_of(self);
  const NSUInteger packed = fields.length * element_bytes(fields.dataType, @"vectorBytes");
  return fields.vectors == 1 ? std::max(fields.vectorBytes, packed) : fields.vectorBytes;
}

@end
