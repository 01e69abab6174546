// The geometry of a depthwise convolution.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowFields& window_of(MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphDepthwiseConvolution2DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphDepthwiseConvolution2DOpDescriptor

+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                            paddingLeft:(NSUInteger)paddingLeft
                           paddingRight:(NSUInteger)paddingRight
                             paddingTop:(NSUInteger)paddingTop
                          paddingBottom:(NSUInteger)paddingBottom
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setStrideInX:strideInX];
  [descriptor setStrideInY:strideInY];
  [descriptor setDilationRateInX:dilationRateInX];
  [descriptor setDilationRateInY:dilationRateInY];
  [descriptor setPaddingLeft:paddingLeft];
  [descriptor setPaddingRight:paddingRight];
  [descriptor setPaddingTop:paddingTop];
  [descriptor setPaddingBottom:paddingBottom];
  [descriptor setPaddingStyle:paddingStyle];
  [descriptor setDataLayout:dataLayout];
  [descriptor setWeightsLayout:weightsLayout];
  return descriptor;
}

+ (instancetype)descriptorWithDataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                           weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setDataLayout:dataLayout];
  [descriptor setWeightsLayout:weightsLayout];
  return descriptor;
}

DESCRIPTOR_LIFE(WindowFields, {})

- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom {
  [self setPaddingLeft:paddingLeft];
  [self setPaddingRight:paddingRight];
  [self setPaddingTop:paddingTop];
  [self setPaddingBottom:paddingBottom];
  [self setPaddingStyle:MPSGraphPaddingStyleExplicit];
}

WINDOW_PROPERTY(NSUInteger, strideInX, setStrideInX, checked_count)
WINDOW_PROPERTY(NSUInteger, strideInY, setStrideInY, checked_count)
WINDOW_PROPERTY(NSUInteger, dilationRateInX, setDilationRateInX, checked_count)
WINDOW_PROPERTY(NSUInteger, dilationRateInY, setDilationRateInY, checked_count)
WINDOW_PROPERTY(NSUInteger, paddingLeft, setPaddingLeft, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingRight, setPaddingRight, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingTop, setPaddingTop, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingBottom, setPaddingBottom, checked_length)
WINDOW_PROPERTY(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, dataLayout, setDataLayout, checked_data_layout)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_weights_layout)

@end
