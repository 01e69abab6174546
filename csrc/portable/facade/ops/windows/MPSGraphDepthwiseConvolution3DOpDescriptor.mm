// The geometry of a depthwise convolution of volumes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowLists& lists_of(MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphDepthwiseConvolution3DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowLists*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphDepthwiseConvolution3DOpDescriptor

+ (instancetype)descriptorWithStrides:(NSArray<NSNumber*>*)strides
                        dilationRates:(NSArray<NSNumber*>*)dilationRates
                        paddingValues:(NSArray<NSNumber*>*)paddingValues
                         paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setStrides:strides];
  [descriptor setDilationRates:dilationRates];
  [descriptor setPaddingValues:paddingValues];
  [descriptor setPaddingStyle:paddingStyle];
  return descriptor;
}

+ (instancetype)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setPaddingStyle:paddingStyle];
  return descriptor;
}

DESCRIPTOR_LIFE(WindowLists, (3))

WINDOW_LIST(strides, setStrides, 3, 1)
WINDOW_LIST(dilationRates, setDilationRates, 3, 1)
WINDOW_LIST(paddingValues, setPaddingValues, 6, 0)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(NSInteger, channelDimensionIndex, setChannelDimensionIndex, checked_channel_index)

@end
