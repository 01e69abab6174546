// The parts of matrices that kernels read and write.

#include "facade/mps/matrices/matrices.h"

#include <algorithm>
#include <limits>

namespace alloy::facade {

void require_valid(const MatrixParts& parts, NSString* what) {
  const auto number = [](size_t n) { return static_cast<unsigned long>(n); };
  const size_t element = element_bytes(parts.type, what);
  if (parts.rows == 0 || parts.columns == 0 || parts.matrices == 0) {
    raise_invalid(@"[%@] %lu of %lu x %lu have no elements.", what, number(parts.matrices), number(parts.rows),
                  number(parts.columns));
  }
  // In doubles, which do not overflow.
  const auto real = [](size_t n) { return static_cast<double>(n); };
  const double bytes = std::max(real(parts.columns) * real(element), real(parts.rows) * real(parts.row_bytes)) +
                       real(parts.matrices - 1) * real(parts.matrix_bytes);
  if (bytes > real(std::numeric_limits<ptrdiff_t>::max())) {
    raise_invalid(@"[%@] %lu of %lu x %lu take more bytes than a buffer can have.", what, number(parts.matrices),
                  number(parts.rows), number(parts.columns));
  }
  if (parts.row_bytes % element || parts.row_bytes / element < parts.columns) {
    raise_invalid(@"[%@] A row of %lu elements has %lu bytes, but they take %lu, and it is a multiple of %lu.", what,
                  number(parts.columns), number(parts.row_bytes), number(parts.columns * element), number(element));
  }
  if (parts.matrices > 1 &&
      (parts.matrix_bytes % parts.row_bytes || parts.matrix_bytes / parts.row_bytes < parts.rows)) {
    raise_invalid(@"[%@] A matrix of %lu rows of %lu bytes has %lu bytes, which are too few or no whole rows.", what,
                  number(parts.rows), number(parts.row_bytes), number(parts.matrix_bytes));
  }
}

namespace {

// Copies the parts of matrices at an offset of a buffer; raises if they do not fit.
MatrixParts* fitting(const MatrixParts& parts, NSString* what) {
  require_valid(parts, what);
  if (parts.offset % element_bytes(parts.type, what)) {
    raise_invalid(@"[%@] The offset is %lu, but elements have %lu bytes.", what,
                  static_cast<unsigned long>(parts.offset),
                  static_cast<unsigned long>(element_bytes(parts.type, what)));
  }
  require_aligned(bytes_of(parts.buffer), element_bytes(parts.type, what), what);
  const size_t length = bytes_of(parts.buffer).length;
  const size_t needed = (parts.matrices - 1) * parts.matrix_bytes + (parts.rows - 1) * parts.row_bytes +
                        parts.columns * element_bytes(parts.type, what);
  if (parts.offset > length || needed > length - parts.offset) {
    raise_invalid(@"[%@] The elements need %lu bytes from %lu on, but the buffer has %lu.", what,
                  static_cast<unsigned long>(needed), static_cast<unsigned long>(parts.offset),
                  static_cast<unsigned long>(length));
  }
  [parts.buffer retain];
  return new MatrixParts(parts);
}

}  // namespace

MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSMatrixDescriptor* descriptor) {
  require_kind(descriptor, [MPSMatrixDescriptor class]);
  return fitting({buffer, offset, [descriptor rows], [descriptor columns], [descriptor matrices], [descriptor rowBytes],
                  [descriptor matrixBytes], [descriptor dataType], 1},
                 @"MPSMatrix");
}

MatrixParts* new_parts(id<MTLBuffer> buffer, NSUInteger offset, MPSVectorDescriptor* descriptor) {
  require_kind(descriptor, [MPSVectorDescriptor class]);
  const NSUInteger bytes = [descriptor vectorBytes];
  return fitting({buffer, offset, 1, [descriptor length], [descriptor vectors], bytes, bytes, [descriptor dataType], 1},
                 @"MPSVector");
}

size_t bytes_of(MPSMatrixDescriptor* descriptor) {
  require_kind(descriptor, [MPSMatrixDescriptor class]);
  return std::max(
      [descriptor matrixBytes] * ([descriptor matrices] - 1) + [descriptor rowBytes] * [descriptor rows],
      NSUInteger { 1 });
}

size_t bytes_of(MPSVectorDescriptor* descriptor) {
  require_kind(descriptor, [MPSVectorDescriptor class]);
  return std::max([descriptor vectorBytes] * [descriptor vectors], NSUInteger { 1 });
}

void delete_parts(void* parts) {
  auto* matrix = static_cast<MatrixParts*>(parts);
  if (matrix) [matrix->buffer release];
  delete matrix;
}

Batch batch_of(Batch wanted, std::initializer_list<const MatrixParts*> operands, NSString* what) {
  NSUInteger size = wanted.size;
  for (const MatrixParts* operand : operands) {
    if (wanted.start >= operand->matrices) {
      raise_invalid(@"[%@] The batch begins with %lu, but an operand has %lu.", what,
                    static_cast<unsigned long>(wanted.start), static_cast<unsigned long>(operand->matrices));
    }
    size = std::min(size, operand->matrices - wanted.start);
  }
  if (size == 0) raise_invalid(@"[%@] The batchSize is 0.", what);
  return {wanted.start, size};
}

device::ArrayMemory part_of(const MatrixParts& matrix, const Rectangle& part, Batch batch, NSString* what) {
  if (part.origin.z != 0) raise_invalid(@"[%@] The z of an origin is not 0; batchStart selects the matrix.", what);
  if (part.rows == 0 || part.columns == 0 || part.origin.x > matrix.rows || part.origin.y > matrix.columns ||
      part.rows > matrix.rows - part.origin.x || part.columns > matrix.columns - part.origin.y) {
    raise_invalid(@"[%@] %lu x %lu elements from (%lu, %lu) on are not inside the %lu x %lu of a matrix.", what,
                  static_cast<unsigned long>(part.rows), static_cast<unsigned long>(part.columns),
                  static_cast<unsigned long>(part.origin.x), static_cast<unsigned long>(part.origin.y),
                  static_cast<unsigned long>(matrix.rows), static_cast<unsigned long>(matrix.columns));
  }
  const BufferBytes& bytes = bytes_of(matrix.buffer);
  device::ArrayLayout layout;
  layout.rank = 3;
  layout.element_bytes = element_bytes(matrix.type, what);
  const size_t lengths[] = {batch.size, part.rows, part.columns};
  const size_t strides[] = {matrix.matrix_bytes, matrix.row_bytes, layout.element_bytes};
  for (size_t axis = 0; axis < 3; ++axis) {
    layout.lengths[axis] = lengths[axis];
    layout.strides[axis] = static_cast<ptrdiff_t>(strides[axis]);
  }
  layout.offset = bytes.offset + matrix.offset + batch.start * matrix.matrix_bytes + part.origin.x * matrix.row_bytes +
                  part.origin.y * layout.element_bytes;
  return {&device_of([matrix.buffer device]), bytes.storage, layout};
}

Rectangle rest_of(const MatrixParts& matrix, MTLOrigin origin, NSUInteger rows, NSUInteger columns, NSString* what) {
  if (origin.x >= matrix.rows || origin.y >= matrix.columns || rows == 0 || columns == 0) {
    raise_invalid(@"[%@] There are no elements from (%lu, %lu) on in %lu x %lu, or none are wanted.", what,
                  static_cast<unsigned long>(origin.x), static_cast<unsigned long>(origin.y),
                  static_cast<unsigned long>(matrix.rows), static_cast<unsigned long>(matrix.columns));
  }
  return {origin, std::min(rows, matrix.rows - origin.x), std::min(columns, matrix.columns - origin.y)};
}

bool is_float(MPSDataType type) { return type == MPSDataTypeFloat32 || type == MPSDataTypeFloat16; }

namespace {

void count_read_of(NSUInteger& left, NSString* what) {
  if (left == 0) raise_invalid(@"[%@] A temporary operand is read once more than its readCount says.", what);
  --left;
}

device::ArrayMemory whole(const MatrixParts& parts) {
  return part_of(parts, {{0, 0, 0}, parts.rows, parts.columns}, {0, parts.matrices}, @"MPSGraphTensorData");
}

}  // namespace

void count_read(MPSMatrix* matrix, NSString* what) {
  if ([matrix isKindOfClass:[MPSTemporaryMatrix class]]) count_read_of(parts_of(matrix).reads_left, what);
}

void count_read(MPSVector* vector, NSString* what) {
  if ([vector isKindOfClass:[MPSTemporaryVector class]]) count_read_of(parts_of(vector).reads_left, what);
}

MPSNDArray* new_array_of(MPSMatrix* matrix) {
  const device::ArrayMemory memory = whole(parts_of(matrix));
  return new_array([matrix device], memory.storage, memory.layout, [matrix dataType]);
}

MPSNDArray* new_array_of(MPSVector* vector) {
  device::ArrayMemory memory = whole(parts_of(vector));
  // (vectors, 1, length) as (vectors, length)
  memory.layout.rank = 2;
  memory.layout.lengths[1] = memory.layout.lengths[2];
  memory.layout.strides[1] = memory.layout.strides[2];
  return new_array([vector device], memory.storage, memory.layout, [vector dataType]);
}

}  // namespace alloy::facade
