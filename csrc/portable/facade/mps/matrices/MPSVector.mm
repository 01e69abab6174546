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

MATRIX_MEMORY(MPSVector, MPSVectorDescriptor)
GETTER(NSUInteger, length, parts_of(self).columns)
GETTER(NSUInteger, vectors, parts_of(self).matrices)
GETTER(NSUInteger, vectorBytes, parts_of(self).matrix_bytes)

@end
