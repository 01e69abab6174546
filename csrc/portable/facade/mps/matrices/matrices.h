// The memory of matrices and vectors, and the parts of them that kernels read and write.
#pragma once

#include <algorithm>

#include "facade/mps/arrays.h"

namespace alloy::facade {

// The C++ part of an MPSMatrix or MPSVector; a vector is a row of a matrix.
struct MatrixParts {
  id<MTLBuffer> buffer;  // retained
  NSUInteger offset, rows, columns, matrices, row_bytes, matrix_bytes;
  MPSDataType type;
  NSUInteger reads_left;  // only of a temporary object
};
// Raises if there are no elements, or if rows or matrices overlap or begin inside an element.
void require_valid(const MatrixParts& parts, NSString* what);
MatrixParts& parts_of(MPSMatrix* matrix);
MatrixParts& parts_of(MPSVector* vector);

// The C++ part of matrices in `buffer`, which is retained; raises if they do not fit.
MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSMatrixDescriptor* descriptor);
MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSVectorDescriptor* descriptor);
// The bytes of the matrices or vectors.
size_t bytes_of(MPSMatrixDescriptor* descriptor);
size_t bytes_of(MPSVectorDescriptor* descriptor);
void delete_parts(void* parts);

// The matrices that a kernel uses.
struct Batch {
  NSUInteger start, size;
};

// A rectangle of a matrix: its first element and its numbers of rows and columns.
struct Rectangle {
  MTLOrigin origin;
  NSUInteger rows, columns;
};

// The matrices of `wanted` that all operands have; raises, naming `what`, if an operand has none.
Batch batch_of(Batch wanted, std::initializer_list<const MatrixParts*> operands, NSString* what);
// The part of each matrix of the batch, as an array (matrices, rows, columns); raises if it is not inside.
device::ArrayMemory part_of(const MatrixParts& matrix, const Rectangle& part, Batch batch, NSString* what);
// The rows and columns from the origin on, at most `rows` and `columns`; raises if there are none.
Rectangle rest_of(const MatrixParts& matrix, MTLOrigin origin, NSUInteger rows, NSUInteger columns, NSString* what);

// Counts a read of a temporary matrix or vector; raises if its readCount is 0.
void count_read(MPSMatrix* matrix, NSString* what);
void count_read(MPSVector* vector, NSString* what);

// True if elements of the type are float32 or float16.
bool is_float(MPSDataType type);

}  // namespace alloy::facade

// The methods that MPSMatrix and MPSVector share.
#define MATRIX_MEMORY(Matrix, Descriptor)                                                                          \
  -(instancetype)init {                                                                                            \
    raise_invalid(@"[" #Matrix @"] Use one of the initialisers with a descriptor instead of init.");               \
  }                                                                                                                \
  METHOD(instancetype, takes(initWithBuffer, id<MTLBuffer>), takes(offset, NSUInteger),                            \
         takes(descriptor, Descriptor*)) {                                                                         \
    MatrixParts* parts = new_parts(initWithBuffer, offset, descriptor);                                            \
    if ((self = [super init])) _impl = parts;                                                                      \
    return self;                                                                                                   \
  }                                                                                                                \
  METHOD(instancetype, takes(initWithDevice, id<MTLDevice>), takes(descriptor, Descriptor*)) {                     \
    id<MTLBuffer> buffer = room_on(initWithDevice, bytes_of(descriptor), MTLResourceStorageModeShared, @ #Matrix); \
    return [self initWithBuffer:buffer offset:0 descriptor:descriptor];                                            \
  }                                                                                                                \
  -(void)dealloc {                                                                                                 \
    delete_parts(_impl);                                                                                           \
    [super dealloc];                                                                                               \
  }                                                                                                                \
  METHOD(void, takes(synchronizeOnCommandBuffer, id<MTLCommandBuffer>)) {                                          \
    owner_of(synchronizeOnCommandBuffer); /* raises for what is no command buffer */                               \
  }                                                                                                                \
  FORWARD(instancetype, passes(initWithBuffer), sends(offset, 0), passes(descriptor))                              \
  GETTER(id<MTLDevice>, device, [parts_of(self).buffer device])                                                    \
  GETTER(NSUInteger, offset, parts_of(self).offset)                                                                \
  GETTER(MPSDataType, dataType, parts_of(self).type)                                                               \
  GETTER(id<MTLBuffer>, data, parts_of(self).buffer)                                                               \
  GETTER(NSUInteger, resourceSize, [parts_of(self).buffer allocatedSize])
