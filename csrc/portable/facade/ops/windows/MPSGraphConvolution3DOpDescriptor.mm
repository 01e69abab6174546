// The geometry of a convolution of volumes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowFields, MPSGraphConvolution3DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphConvolution3DOpDescriptor

DESCRIPTOR_WITH(MPSGraphConvolution3DOpDescriptor, descriptorWithStrideInX, takes(strideInX, NSUInteger),
                takes(strideInY, NSUInteger), takes(strideInZ, NSUInteger), takes(dilationRateInX, NSUInteger),
                takes(dilationRateInY, NSUInteger), takes(dilationRateInZ, NSUInteger), takes(groups, NSUInteger),
                takes(paddingLeft, NSUInteger), takes(paddingRight, NSUInteger), takes(paddingTop, NSUInteger),
                takes(paddingBottom, NSUInteger), takes(paddingFront, NSUInteger), takes(paddingBack, NSUInteger),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(dataLayout, MPSGraphTensorNamedDataLayout),
                takes(weightsLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_WITH(MPSGraphConvolution3DOpDescriptor, descriptorWithStrideInX, takes(strideInX, NSUInteger),
                takes(strideInY, NSUInteger), takes(strideInZ, NSUInteger), takes(dilationRateInX, NSUInteger),
                takes(dilationRateInY, NSUInteger), takes(dilationRateInZ, NSUInteger), takes(groups, NSUInteger),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(dataLayout, MPSGraphTensorNamedDataLayout),
                takes(weightsLayout, MPSGraphTensorNamedDataLayout))

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

WINDOW_AXES()
WINDOW_FIELD(NSUInteger, strideInZ, setStrideInZ, checked_count)
WINDOW_FIELD(NSUInteger, dilationRateInZ, setDilationRateInZ, checked_count)
WINDOW_FIELD(NSUInteger, groups, setGroups, checked_count)
WINDOW_FIELD(NSUInteger, paddingFront, setPaddingFront, checked_length)
WINDOW_FIELD(NSUInteger, paddingBack, setPaddingBack, checked_length)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(MPSGraphTensorNamedDataLayout, dataLayout, setDataLayout, checked_volume_layout)
WINDOW_FIELD(MPSGraphTensorNamedDataLayout, weightsLayout, setWeightsLayout, checked_volume_weights_layout)

@end
