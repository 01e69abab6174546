// Kernels that compute one matrix from one.

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

KERNEL_FIELDS(MPSMatrixUnaryKernel, keeps(sourceMatrixOrigin), keeps(resultMatrixOrigin), keeps(batchStart),
              keeps(batchSize))

@end
