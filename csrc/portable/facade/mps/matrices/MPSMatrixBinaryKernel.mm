// Kernels that compute one matrix from two.

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

KERNEL_FIELDS(MPSMatrixBinaryKernel, keeps(primarySourceMatrixOrigin), keeps(secondarySourceMatrixOrigin),
              keeps(resultMatrixOrigin), keeps(batchStart), keeps(batchSize))

@end
