// Products of matrices with vectors.

#include "facade/mps/matrices/products.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

// The elements of vectors from an origin on, as an array (vectors, elements, 1).
device::ArrayMemory column_of(const MatrixParts& vector, MTLOrigin origin, NSUInteger length, Batch batch) {
  if (origin.y != 0) raise_invalid(@"[MPSMatrixVectorMultiplication] The y of the origin of a vector is not 0.");
  device::ArrayMemory memory =
      part_of(vector, {{0, origin.x, origin.z}, 1, length}, batch, @"MPSMatrixVectorMultiplication");
  std::swap(memory.layout.lengths[1], memory.layout.lengths[2]);
  std::swap(memory.layout.strides[1], memory.layout.strides[2]);
  return memory;
}

}  // namespace

@implementation MPSMatrixVectorMultiplication

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  raise_invalid(@"[MPSMatrixVectorMultiplication] Use an initialiser with the sizes instead of initWithDevice:.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta {
  if ((self = [super initWithDevice:device])) {
    _transpose = transpose;
    _rows = rows;
    _columns = columns;
    _alpha = alpha;
    _beta = beta;
  }
  return self;
}

FORWARD(instancetype, passes(initWithDevice), sends(transpose, NO), passes(rows, NSUInteger),
        passes(columns, NSUInteger), sends(alpha, 1), sends(beta, 0))

KERNEL_FIELDS(MPSMatrixVectorMultiplication, keeps(transpose), keeps(rows), keeps(columns), keeps(alpha), keeps(beta))

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                  inputVector:(MPSVector*)inputVector
                 resultVector:(MPSVector*)resultVector {
  NSString* const what = @"MPSMatrixVectorMultiplication";
  const MatrixParts& matrix = parts_of(inputMatrix);
  const MatrixParts& vector = parts_of(inputVector);
  const MatrixParts& result = parts_of(resultVector);
  const Batch batch = batch_of({_batchStart, _batchSize}, {&matrix, &vector, &result}, what);
  const MTLOrigin origin = _primarySourceMatrixOrigin;
  const Rectangle part = _transpose ? Rectangle{origin, _columns, _rows} : Rectangle{origin, _rows, _columns};
  const device::ArrayMemory a = part_of(matrix, part, batch, what);
  const device::ArrayMemory x = column_of(vector, _secondarySourceMatrixOrigin, _columns, batch);
  const device::ArrayMemory y = column_of(result, _resultMatrixOrigin, _rows, batch);
  count_read(inputMatrix, what);
  count_read(inputVector, what);
  encode_product(commandBuffer, self, {_transpose != NO, false, _alpha, _beta}, {a, matrix.type}, {x, vector.type},
                 {y, result.type});
}

@end
