// The geometry of a depthwise convolution.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowFields, MPSGraphDepthwiseConvolution2DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphDepthwiseConvolution2DOpDescriptor

DESCRIPTOR_WITH(MPSGraphDepthwiseConvolution2DOpDescriptor, descriptorWithStrideInX, takes(strideInX, NSUInteger),
                takes(strideInY, NSUInteger), takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger),
                takes(paddingLeft, NSUInteger), takes(paddingRight, NSUInteger), takes(paddingTop, NSUInteger),
                takes(paddingBottom, NSUInteger), takes(paddingStyle, MPSGraphPaddingStyle),
                takes(dataLayout, MPSGraphTensorNamedDataLayout), takes(weightsLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_WITH(MPSGraphDepthwiseConvolution2DOpDescriptor, descriptorWithDataLayout,
                takes(dataLayout, MPSGraphTensorNamedDataLayout), takes(weightsLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_LIFE(WindowFields, {})

WINDOW_OVER_IMAGES()
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_weights_layout)

@end
