// Products of matrices.

#include "facade/mps/matrices/products.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSMatrixMultiplication

@synthesize resultMatrixOrigin = _resultMatrixOrigin;
@synthesize leftMatrixOrigin = _leftMatrixOrigin;
@synthesize rightMatrixOrigin = _rightMatrixOrigin;
@synthesize batchStart = _batchStart;
@synthesize batchSize = _batchSize;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  raise_invalid(@"[MPSMatrixMultiplication] Use an initialiser with the sizes instead of initWithDevice:.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta {
  if ((self = [super initWithDevice:device])) {
    _batchSize = NSUIntegerMax;
    _transposeLeft = transposeLeft;
    _transposeRight = transposeRight;
    _resultRows = resultRows;
    _resultColumns = resultColumns;
    _interiorColumns = interiorColumns;
    _alpha = alpha;
    _beta = beta;
  }
  return self;
}

FORWARD(instancetype, passes(initWithDevice), sends(transposeLeft, NO), sends(transposeRight, NO),
        passes(resultRows, NSUInteger), passes(resultColumns, NSUInteger), passes(interiorColumns, NSUInteger),
        sends(alpha, 1), sends(beta, 0))

KERNEL_FIELDS(MPSMatrixMultiplication, keeps(resultMatrixOrigin), keeps(leftMatrixOrigin), keeps(rightMatrixOrigin),
              keeps(batchStart), keeps(batchSize), keeps(transposeLeft), keeps(transposeRight), keeps(resultRows),
              keeps(resultColumns), keeps(interiorColumns), keeps(alpha), keeps(beta))

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)leftMatrix
                  rightMatrix:(MPSMatrix*)rightMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix {
  NSString* const what = @"MPSMatrixMultiplication";
  const MatrixParts& left = parts_of(leftMatrix);
  const MatrixParts& right = parts_of(rightMatrix);
  const MatrixParts& result = parts_of(resultMatrix);
  const auto part = [&](MTLOrigin origin, bool transposed, NSUInteger rows, NSUInteger columns) {
    return transposed ? Rectangle{origin, columns, rows} : Rectangle{origin, rows, columns};
  };
  const Batch batch = batch_of({_batchStart, _batchSize}, {&left, &right, &result}, what);
  const device::ArrayMemory a =
      part_of(left, part(_leftMatrixOrigin, _transposeLeft, _resultRows, _interiorColumns), batch, what);
  const device::ArrayMemory b =
      part_of(right, part(_rightMatrixOrigin, _transposeRight, _interiorColumns, _resultColumns), batch, what);
  const device::ArrayMemory c =
      part_of(result, part(_resultMatrixOrigin, false, _resultRows, _resultColumns), batch, what);
  count_read(leftMatrix, what);
  count_read(rightMatrix, what);
  encode_product(commandBuffer, self, {_transposeLeft != NO, _transposeRight != NO, _alpha, _beta}, {a, left.type},
                 {b, right.type}, {c, result.type});
}

@end
