// Extents and places of matrices in a buffer.

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

- (instancetype)init {
  if ((self = [super init])) _impl = new MatrixFields;
  return self;
}

- (void)dealloc {
  delete static_cast<MatrixFields*>(_impl);
  [super dealloc];
}

- (NSUInteger)rows {
  return fields_of(self).rows;
}

- (void)setRows:(NSUInteger)rows {
  fields_of(self).rows = rows;
}

- (NSUInteger)columns {
  return fields_of(self).columns;
}

- (void)setColumns:(NSUInteger)columns {
  fields_of(self).columns = columns;
}

- (NSUInteger)matrices {
  return fields_of(self).matrices;
}

- (MPSDataType)dataType {
  return fields_of(self).dataType;
}

- (void)setDataType:(MPSDataType)dataType {
  element_bytes(dataType, @"setDataType");
  fields_of(self).dataType = dataType;
}

- (NSUInteger)rowBytes {
  return fields_of(self).rowBytes;
}

- (void)setRowBytes:(NSUInteger)rowBytes {
  fields_of(self).rowBytes = rowBytes;
}

- (NSUInteger)matrixBytes {
  const MatrixFields& fields = fields_of(self);
  return fields.matrices == 1 ? fields.rows * fields.rowBytes : fields.matrixBytes;
}

@end
