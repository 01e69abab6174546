// The geometry of a pooling.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowFields& window_of(MPSGraphPooling2DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphPooling2DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphPooling2DOpDescriptor

+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                          dilationRateInX:(NSUInteger)dilationRateInX
                          dilationRateInY:(NSUInteger)dilationRateInY
                              paddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  MPSGraphPooling2DOpDescriptor* descriptor = [self descriptorWithKernelWidth:kernelWidth
                                                                 kernelHeight:kernelHeight
                                                                    strideInX:strideInX
                                                                    strideInY:strideInY
                                                                 paddingStyle:paddingStyle
                                                                   dataLayout:dataLayout];
  [descriptor setDilationRateInX:dilationRateInX];
  [descriptor setDilationRateInY:dilationRateInY];
  [descriptor setPaddingLeft:paddingLeft];
  [descriptor setPaddingRight:paddingRight];
  [descriptor setPaddingTop:paddingTop];
  [descriptor setPaddingBottom:paddingBottom];
  return descriptor;
}

+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  MPSGraphPooling2DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setKernelWidth:kernelWidth];
  [descriptor setKernelHeight:kernelHeight];
  [descriptor setStrideInX:strideInX];
  [descriptor setStrideInY:strideInY];
  [descriptor setPaddingStyle:paddingStyle];
  [descriptor setDataLayout:dataLayout];
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

WINDOW_PROPERTY(NSUInteger, kernelWidth, setKernelWidth, checked_count)
WINDOW_PROPERTY(NSUInteger, kernelHeight, setKernelHeight, checked_count)
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
WINDOW_PROPERTY(BOOL, ceilMode, setCeilMode, unchecked)
WINDOW_PROPERTY(BOOL, includeZeroPadToAverage, setIncludeZeroPadToAverage, unchecked)
WINDOW_PROPERTY(MPSGraphPoolingReturnIndicesMode, returnIndicesMode, setReturnIndicesMode, checked_indices_mode)
WINDOW_PROPERTY(MPSDataType, returnIndicesDataType, setReturnIndicesDataType, checked_indices_type)

@end
