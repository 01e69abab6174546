// Kernels that make one matrix of two.

#include "facade/mps/kernels.h"

using namespace alloy::facade;

@implementation MPSMatrixBinaryKernel

@synthesize primarySourceMatrixOrigin = _primarySourceMatrixOrigin;
@synthesize secondarySourceMatrixOrigin = _secondarySourceMatrixOrigin;
@synthesize resultMatrixOrigin = _resultMatrixOrigin;
@synthesize batchStart = _batchStart;
@synthesize batchSize = _batchSize;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super initWithDevice:device])) _batchSize = NSUIntegerMax;
  return self;
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  MPSMatrixBinaryKernel* copy = [super copyWithZone:zone device:device];
  copy->_primarySourceMatrixOrigin = _primarySourceMatrixOrigin;
  copy->_secondarySourceMatrixOrigin = _secondarySourceMatrixOrigin;
  copy->_resultMatrixOrigin = _resultMatrixOrigin;
  copy->_batchStart = _batchStart;
  copy->_batchSize = _batchSize;
  return copy;
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  if ((self = [super initWithCoder:aDecoder device:device])) {
    _primarySourceMatrixOrigin = decode_origin(aDecoder, @"primarySourceMatrixOrigin");
    _secondarySourceMatrixOrigin = decode_origin(aDecoder, @"secondarySourceMatrixOrigin");
    _resultMatrixOrigin = decode_origin(aDecoder, @"resultMatrixOrigin");
    _batchStart = decode_count(aDecoder, @"batchStart");
    _batchSize = decode_count(aDecoder, @"batchSize");
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [super encodeWithCoder:coder];
  encode_origin(coder, _primarySourceMatrixOrigin, @"primarySourceMatrixOrigin");
  encode_origin(coder, _secondarySourceMatrixOrigin, @"secondarySourceMatrixOrigin");
  encode_origin(coder, _resultMatrixOrigin, @"resultMatrixOrigin");
  encode_count(coder, _batchStart, @"batchStart");
  encode_count(coder, _batchSize, @"batchSize");
}

@end
