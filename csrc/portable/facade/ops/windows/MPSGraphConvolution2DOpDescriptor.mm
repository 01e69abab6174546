// The geometry of a convolution.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowFields& window_of(MPSGraphConvolution2DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphConvolution2DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphConvolution2DOpDescriptor

+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                            paddingLeft:(NSUInteger)paddingLeft
                           paddingRight:(NSUInteger)paddingRight
                             paddingTop:(NSUInteger)paddingTop
                          paddingBottom:(NSUInteger)paddingBottom
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution2DOpDescriptor* descriptor = [self descriptorWithStrideInX:strideInX
                                                                      strideInY:strideInY
                                                                dilationRateInX:dilationRateInX
                                                                dilationRateInY:dilationRateInY
                                                                         groups:groups
                                                                   paddingStyle:paddingStyle
                                                                     dataLayout:dataLayout
                                                                  weightsLayout:weightsLayout];
  [descriptor setPaddingLeft:paddingLeft];
  [descriptor setPaddingRight:paddingRight];
  [descriptor setPaddingTop:paddingTop];
  [descriptor setPaddingBottom:paddingBottom];
  return descriptor;
}

+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution2DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setStrideInX:strideInX];
  [descriptor setStrideInY:strideInY];
  [descriptor setDilationRateInX:dilationRateInX];
  [descriptor setDilationRateInY:dilationRateInY];
  [descriptor setGroups:groups];
  [descriptor setPaddingStyle:paddingStyle];
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
WINDOW_PROPERTY(NSUInteger, groups, setGroups, checked_count)
WINDOW_PROPERTY(NSUInteger, paddingLeft, setPaddingLeft, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingRight, setPaddingRight, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingTop, setPaddingTop, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingBottom, setPaddingBottom, checked_length)
WINDOW_PROPERTY(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, dataLayout, setDataLayout, checked_data_layout)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_weights_layout)

@end
