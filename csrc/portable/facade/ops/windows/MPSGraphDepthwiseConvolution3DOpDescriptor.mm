// The geometry of a depthwise convolution of volumes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowLists, MPSGraphDepthwiseConvolution3DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphDepthwiseConvolution3DOpDescriptor

DESCRIPTOR_WITH(MPSGraphDepthwiseConvolution3DOpDescriptor, descriptorWithStrides, takes(strides, NSArray<NSNumber*>*),
                takes(dilationRates, NSArray<NSNumber*>*), takes(paddingValues, NSArray<NSNumber*>*),
                takes(paddingStyle, MPSGraphPaddingStyle))

DESCRIPTOR_WITH(MPSGraphDepthwiseConvolution3DOpDescriptor, descriptorWithPaddingStyle,
                takes(paddingStyle, MPSGraphPaddingStyle))

DESCRIPTOR_LIFE(WindowLists, (3))

WINDOW_LIST(strides, setStrides, 3, 1)
WINDOW_LIST(dilationRates, setDilationRates, 3, 1)
WINDOW_LIST(paddingValues, setPaddingValues, 6, 0)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(NSInteger, channelDimensionIndex, setChannelDimensionIndex, checked_channel_index)

@end
