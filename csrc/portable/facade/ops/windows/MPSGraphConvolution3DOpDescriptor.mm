// The geometry of a convolution of volumes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowFields& window_of(MPSGraphConvolution3DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphConvolution3DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphConvolution3DOpDescriptor

+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                              strideInZ:(NSUInteger)strideInZ
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                        dilationRateInZ:(NSUInteger)dilationRateInZ
                                 groups:(NSUInteger)groups
                            paddingLeft:(NSUInteger)paddingLeft
                           paddingRight:(NSUInteger)paddingRight
                             paddingTop:(NSUInteger)paddingTop
                          paddingBottom:(NSUInteger)paddingBottom
                           paddingFront:(NSUInteger)paddingFront
                            paddingBack:(NSUInteger)paddingBack
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution3DOpDescriptor* descriptor = [self descriptorWithStrideInX:strideInX
                                                                      strideInY:strideInY
                                                                      strideInZ:strideInZ
                                                                dilationRateInX:dilationRateInX
                                                                dilationRateInY:dilationRateInY
                                                                dilationRateInZ:dilationRateInZ
                                                                         groups:groups
                                                                   paddingStyle:paddingStyle
                                                                     dataLayout:dataLayout
                                                                  weightsLayout:weightsLayout];
  [descriptor setPaddingLeft:paddingLeft];
  [descriptor setPaddingRight:paddingRight];
  [descriptor setPaddingTop:paddingTop];
  [descriptor setPaddingBottom:paddingBottom];
  [descriptor setPaddingFront:paddingFront];
  [descriptor setPaddingBack:paddingBack];
  return descriptor;
}

+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                              strideInZ:(NSUInteger)strideInZ
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                        dilationRateInZ:(NSUInteger)dilationRateInZ
                                 groups:(NSUInteger)groups
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution3DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setStrideInX:strideInX];
  [descriptor setStrideInY:strideInY];
  [descriptor setStrideInZ:strideInZ];
  [descriptor setDilationRateInX:dilationRateInX];
  [descriptor setDilationRateInY:dilationRateInY];
  [descriptor setDilationRateInZ:dilationRateInZ];
  [descriptor setGroups:groups];
  [descriptor setPaddingStyle:paddingStyle];
  [descriptor setDataLayout:dataLayout];
  [descriptor setWeightsLayout:weightsLayout];
  return descriptor;
}

DESCRIPTOR_LIFE(WindowFields,
                {.dataLayout = MPSGraphTensorNamedDataLayoutNDHWC, .weightsLayout = MPSGraphTensorNamedDataLayoutDHWIO})

- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom
                             paddingFront:(NSUInteger)paddingFront
                              paddingBack:(NSUInteger)paddingBack {
  [self setPaddingLeft:paddingLeft];
  [self setPaddingRight:paddingRight];
  [self setPaddingTop:paddingTop];
  [self setPaddingBottom:paddingBottom];
  [self setPaddingFront:paddingFront];
  [self setPaddingBack:paddingBack];
  [self setPaddingStyle:MPSGraphPaddingStyleExplicit];
}

WINDOW_PROPERTY(NSUInteger, strideInX, setStrideInX, checked_count)
WINDOW_PROPERTY(NSUInteger, strideInY, setStrideInY, checked_count)
WINDOW_PROPERTY(NSUInteger, strideInZ, setStrideInZ, checked_count)
WINDOW_PROPERTY(NSUInteger, dilationRateInX, setDilationRateInX, checked_count)
WINDOW_PROPERTY(NSUInteger, dilationRateInY, setDilationRateInY, checked_count)
WINDOW_PROPERTY(NSUInteger, dilationRateInZ, setDilationRateInZ, checked_count)
WINDOW_PROPERTY(NSUInteger, groups, setGroups, checked_count)
WINDOW_PROPERTY(NSUInteger, paddingLeft, setPaddingLeft, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingRight, setPaddingRight, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingTop, setPaddingTop, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingBottom, setPaddingBottom, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingFront, setPaddingFront, checked_length)
WINDOW_PROPERTY(NSUInteger, paddingBack, setPaddingBack, checked_length)
WINDOW_PROPERTY(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, dataLayout, setDataLayout, checked_volume_layout)
WINDOW_PROPERTY(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_volume_weights_layout)

@end
