// The geometry of windows that become columns.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowFields, MPSGraphImToColOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphImToColOpDescriptor

DESCRIPTOR_WITH(MPSGraphImToColOpDescriptor, descriptorWithKernelWidth, takes(kernelWidth, NSUInteger),
                takes(kernelHeight, NSUInteger), takes(strideInX, NSUInteger), takes(strideInY, NSUInteger),
                takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger), takes(paddingLeft, NSUInteger),
                takes(paddingRight, NSUInteger), takes(paddingTop, NSUInteger), takes(paddingBottom, NSUInteger),
                takes(dataLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_WITH(MPSGraphImToColOpDescriptor, descriptorWithKernelWidth, takes(kernelWidth, NSUInteger),
                takes(kernelHeight, NSUInteger), takes(strideInX, NSUInteger), takes(strideInY, NSUInteger),
                takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger),
                takes(dataLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_LIFE(WindowFields, {})

WINDOW_OVER_IMAGES()
WINDOW_FIELD(NSUInteger, kernelWidth, setKernelWidth, checked_count)
WINDOW_FIELD(NSUInteger, kernelHeight, setKernelHeight, checked_count)

@end
