// Kernels that make one matrix of one.

#include "facade/mps/kernels.h"

using namespace alloy::facade;

@implementation MPSMatrixUnaryKernel

@synthesize sourceMatrixOrigin = _sourceMatrixOrigin;
@synthesize resultMatrixOrigin = _resultMatrixOrigin;
@synthesize batchStart = _batchStart;
@synthesize batchSize = _batchSize;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super initWithDevice:device])) _batchSize = NSUIntegerMax;
  return self;
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  MPSMatrixUnaryKernel* copy = [super copyWithZone:zone device:device];
  copy->_sourceMatrixOrigin = _sourceMatrixOrigin;
  copy->_resultMatrixOrigin = _resultMatrixOrigin;
  copy->_batchStart = _batchStart;
  copy->_batchSize = _batchSize;
  return copy;
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  if ((self = [super initWithCoder:aDecoder device:device])) {
    _sourceMatrixOrigin = decode_origin(aDecoder, @"sourceMatrixOrigin");
    _resultMatrixOrigin = decode_origin(aDecoder, @"resultMatrixOrigin");
    _batchStart = decode_count(aDecoder, @"batchStart");
    _batchSize = decode_count(aDecoder, @"batchSize");
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [super encodeWithCoder:coder];
  encode_origin(coder, _sourceMatrixOrigin, @"sourceMatrixOrigin");
  encode_origin(coder, _resultMatrixOrigin, @"resultMatrixOrigin");
  encode_count(coder, _batchStart, @"batchStart");
  encode_count(coder, _batchSize, @"batchSize");
}

@end
