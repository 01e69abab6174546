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

- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns {
  return [self initWithDevice:device
                transposeLeft:NO
               transposeRight:NO
                   resultRows:resultRows
                resultColumns:resultColumns
              interiorColumns:interiorColumns
                        alpha:1
                         beta:0];
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  MPSMatrixMultiplication* copy = [super copyWithZone:zone device:device];
  copy->_resultMatrixOrigin = _resultMatrixOrigin;
  copy->_leftMatrixOrigin = _leftMatrixOrigin;
  copy->_rightMatrixOrigin = _rightMatrixOrigin;
  copy->_batchStart = _batchStart;
  copy->_batchSize = _batchSize;
  copy->_transposeLeft = _transposeLeft;
  copy->_transposeRight = _transposeRight;
  copy->_resultRows = _resultRows;
  copy->_resultColumns = _resultColumns;
  copy->_interiorColumns = _interiorColumns;
  copy->_alpha = _alpha;
  copy->_beta = _beta;
  return copy;
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  if ((self = [super initWithCoder:aDecoder device:device])) {
    _resultMatrixOrigin = decode_origin(aDecoder, @"resultMatrixOrigin");
    _leftMatrixOrigin = decode_origin(aDecoder, @"leftMatrixOrigin");
    _rightMatrixOrigin = decode_origin(aDecoder, @"rightMatrixOrigin");
    _batchStart = decode_count(aDecoder, @"batchStart");
    _batchSize = decode_count(aDecoder, @"batchSize");
    _transposeLeft = [aDecoder decodeBoolForKey:@"transposeLeft"];
    _transposeRight = [aDecoder decodeBoolForKey:@"transposeRight"];
    _resultRows = decode_count(aDecoder, @"resultRows");
    _resultColumns = decode_count(aDecoder, @"resultColumns");
    _interiorColumns = decode_count(aDecoder, @"interiorColumns");
    _alpha = [aDecoder decodeDoubleForKey:@"alpha"];
    _beta = [aDecoder decodeDoubleForKey:@"beta"];
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [super encodeWithCoder:coder];
  encode_origin(coder, _resultMatrixOrigin, @"resultMatrixOrigin");
  encode_origin(coder, _leftMatrixOrigin, @"leftMatrixOrigin");
  encode_origin(coder, _rightMatrixOrigin, @"rightMatrixOrigin");
  encode_count(coder, _batchStart, @"batchStart");
  encode_count(coder, _batchSize, @"batchSize");
  [coder encodeBool:_transposeLeft forKey:@"transposeLeft"];
  [coder encodeBool:_transposeRight forKey:@"transposeRight"];
  encode_count(coder, _resultRows, @"resultRows");
  encode_count(coder, _resultColumns, @"resultColumns");
  encode_count(coder, _interiorColumns, @"interiorColumns");
  [coder encodeDouble:_alpha forKey:@"alpha"];
  [coder encodeDouble:_beta forKey:@"beta"];
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)leftMatrix
                  rightMatrix:(MPSMatrix*)rightMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix {
  NSString* const what = @"MPSMatrixMultiplication";
  const MatrixParts& left = parts_of(leftMatrix);
  const MatrixParts& right = parts_of(rightMatrix);
  const MatrixParts& result = parts_of(resultMatrix);
  const auto part = [&](MTLOrigin origin, bool transposed, NSUInteger rows, NSUInteger columns) {
    return transposed ? Part{origin, columns, rows} : Part{origin, rows, columns};
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
