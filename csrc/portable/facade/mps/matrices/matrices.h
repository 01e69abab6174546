// The memory of matrices and vectors, and the parts of them that kernels read and write.
#pragma once

#include <algorithm>

#include "facade/mps/arrays.h"

namespace alloy::facade {

// What an MPSMatrix is, and what an MPSVector is, of which a vector is a row.
struct MatrixParts {
  id<MTLBuffer> buffer;  // retained
  NSUInteger offset, rows, columns, matrices, row_bytes, matrix_bytes;
  MPSDataType type;
  NSUInteger reads_left;  // of a temporary one
};
// Raises where there are no elements, or rows or matrices overlap, or lie between elements.
void require_valid(const MatrixParts& parts, NSString* what);
MatrixParts& parts_of(MPSMatrix* matrix);
MatrixParts& parts_of(MPSVector* vector);

// The parts over `buffer`, which is retained; raises where it does not fit.
MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSMatrixDescriptor* descriptor);
MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSVectorDescriptor* descriptor);
// Bytes that they take.
size_t bytes_of(MPSMatrixDescriptor* descriptor);
size_t bytes_of(MPSVectorDescriptor* descriptor);
void delete_parts(void* parts);

// Which matrices a kernel takes.
struct Batch {
  NSUInteger start, size;
};

// A part of a matrix: the place of the first element, and how many rows and columns.
struct Part {
  MTLOrigin origin;
  NSUInteger rows, columns;
};

// The matrices of `batch` that all of the operands have; raises, naming `what`, where one has none.
Batch batch_of(Batch wanted, std::initializer_list<const MatrixParts*> operands, NSString* what);
// The part of each matrix of the batch, as an array (matrices, rows, columns); raises where it is not inside.
device::ArrayMemory part_of(const MatrixParts& matrix, const Part& part, Batch batch, NSString* what);
// From the origin on as many rows and columns as there are, and as are wanted; raises where there are none.
Part rest_of(const MatrixParts& matrix, MTLOrigin origin, NSUInteger rows, NSUInteger columns, NSString* what);

// Counts a read of a temporary matrix or vector; raises where its readCount is 0.
void count_read(MPSMatrix* matrix, NSString* what);
void count_read(MPSVector* vector, NSString* what);

// True if elements of the type are float32 or float16.
bool is_float(MPSDataType type);

}  // namespace alloy::facade
