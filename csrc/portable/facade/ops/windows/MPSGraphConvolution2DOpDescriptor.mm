// The geometry of a convolution.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowFields, MPSGraphConvolution2DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphConvolution2DOpDescriptor

DESCRIPTOR_WITH(MPSGraphConvolution2DOpDescriptor, descriptorWithStrideInX, takes(strideInX, NSUInteger),
                takes(strideInY, NSUInteger), takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger),
                takes(groups, NSUInteger), takes(paddingLeft, NSUInteger), takes(paddingRight, NSUInteger),
                takes(paddingTop, NSUInteger), takes(paddingBottom, NSUInteger),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(dataLayout, MPSGraphTensorNamedDataLayout),
                takes(weightsLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_WITH(MPSGraphConvolution2DOpDescriptor, descriptorWithStrideInX, takes(strideInX, NSUInteger),
                takes(strideInY, NSUInteger), takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger),
                takes(groups, NSUInteger), takes(paddingStyle, MPSGraphPaddingStyle),
                takes(dataLayout, MPSGraphTensorNamedDataLayout), takes(weightsLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_LIFE(WindowFields, {})

WINDOW_OVER_IMAGES()
WINDOW_FIELD(NSUInteger, groups, setGroups, checked_count)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_weights_layout)

@end
