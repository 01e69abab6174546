// Extents and positions of matrices in a buffer.

#include "facade/descriptor.h"
#include "facade/mps/matrices/matrices.h"

using namespace alloy::facade;

namespace {

struct MatrixFields {
  NSUInteger rows = 0, columns = 0, matrices = 1, rowBytes = 0, matrixBytes = 0;
  MPSDataType dataType = MPSDataTypeFloat32;
};

MatrixFields& fields_of(MPSMatrixDescriptor* descriptor) { return *static_cast<MatrixFields*>(descriptor->_impl); }

}  // namespace

@implementation MPSMatrixDescriptor

+ (instancetype)matrixDescriptorWithDimensions:(NSUInteger)rows
                                       columns:(NSUInteger)columns
                                      rowBytes:(NSUInteger)rowBytes
                                      dataType:(MPSDataType)dataType {
  return [self matrixDescriptorWithRows:rows columns:columns rowBytes:rowBytes dataType:dataType];
}

+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType {
  return [self matrixDescriptorWithRows:rows
                                columns:columns
                               matrices:1
                               rowBytes:rowBytes
                            matrixBytes:rows * rowBytes
                               dataType:dataType];
}

+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType {
  require_valid({nil, 0, rows, columns, matrices, rowBytes, matrixBytes, dataType, 1}, @"MPSMatrixDescriptor");
  MPSMatrixDescriptor* descriptor = [[self new] autorelease];
  fields_of(descriptor) = {rows, columns, matrices, rowBytes, matrixBytes, dataType};
  return descriptor;
}

+ (size_t)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)dataType {
  return [self rowBytesForColumns:columns dataType:dataType];
}

+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType {
  return padded_bytes(columns * element_bytes(dataType, @"rowBytesForColumns"));
}

FIELDS_LIFE(MatrixFields, {})
DESCRIPTOR_FIELD(MatrixFields, NSUInteger, rows, setRows)
DESCRIPTOR_FIELD(MatrixFields, NSUInteger, columns, setColumns)
DESCRIPTOR_FIELD(MatrixFields, NSUInteger, rowBytes, setRowBytes)
GETTER(NSUInteger, matrices, fields_of(self).matrices)
GETTER(MPSDataType, dataType, fields_of(self).dataType)

- (void)setDataType:(MPSDataType)dataType {
  element_bytes(dataType, @"setDataType");
  fields_of(self).dataType = dataType;
}

- (NSUInteger)matrixBytes {
  const MatrixFields& fields = fields_of(self);
  return fields.matrices == 1 ? fields.rows * fields.rowBytes : fields.matrixBytes;
}

@end
