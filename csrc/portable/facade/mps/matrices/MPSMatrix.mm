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

MATRIX_MEMORY(MPSMatrix, MPSMatrixDescriptor)
GETTER(NSUInteger, rows, parts_of(self).rows)
GETTER(NSUInteger, columns, parts_of(self).columns)
GETTER(NSUInteger, matrices, parts_of(self).matrices)
GETTER(NSUInteger, rowBytes, parts_of(self).row_bytes)
GETTER(NSUInteger, matrixBytes, parts_of(self).matrix_bytes)

@end
