// Geometry of convolutions and poolings. Checks each field; whether fields fit a source is for the op rules.

#include "facade/FacadePrivate.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct Window {
  NSUInteger kernelWidth = 1, kernelHeight = 1;
  NSUInteger strideInX = 1, strideInY = 1;
  NSUInteger dilationRateInX = 1, dilationRateInY = 1;
  NSUInteger paddingLeft = 0, paddingRight = 0, paddingTop = 0, paddingBottom = 0;
  NSUInteger groups = 1;
  MPSGraphPaddingStyle paddingStyle = MPSGraphPaddingStyleExplicit;
  MPSGraphTensorNamedDataLayout dataLayout = MPSGraphTensorNamedDataLayoutNHWC;
  MPSGraphTensorNamedDataLayout weightsLayout = MPSGraphTensorNamedDataLayoutHWIO;
  BOOL ceilMode = NO;
  BOOL includeZeroPadToAverage = NO;
};

Window& window_of(MPSGraphConvolution2DOpDescriptor* descriptor) { return *static_cast<Window*>(descriptor->_impl); }

Window& window_of(MPSGraphPooling2DOpDescriptor* descriptor) { return *static_cast<Window*>(descriptor->_impl); }

NSUInteger checked_count(NSUInteger value, NSString* field) {
  if (value == 0) raise_invalid(@"[%@] The value is 0, but it must be positive.", field);
  return value;
}

// A negative length arrives as a huge one.
NSUInteger checked_length(NSUInteger value, NSString* field) {
  if (value > static_cast<NSUInteger>(NSIntegerMax)) {
    raise_invalid(@"[%@] The value is %ld, but it must not be negative.", field, static_cast<long>(value));
  }
  return value;
}

MPSGraphPaddingStyle checked_style(MPSGraphPaddingStyle style, NSString* field) {
  if (style != MPSGraphPaddingStyleExplicit && style != MPSGraphPaddingStyleTF_VALID &&
      style != MPSGraphPaddingStyleTF_SAME && style != MPSGraphPaddingStyleONNX_SAME_LOWER) {
    raise_invalid(@"[%@] The padding style %lu does not exist for windows.", field, static_cast<unsigned long>(style));
  }
  return style;
}

MPSGraphTensorNamedDataLayout checked_data_layout(MPSGraphTensorNamedDataLayout layout, NSString* field) {
  if (layout != MPSGraphTensorNamedDataLayoutNCHW && layout != MPSGraphTensorNamedDataLayoutNHWC) {
    raise_invalid(@"[%@] The layout is %lu, but data is NCHW or NHWC.", field, static_cast<unsigned long>(layout));
  }
  return layout;
}

MPSGraphTensorNamedDataLayout checked_weights_layout(MPSGraphTensorNamedDataLayout layout, NSString* field) {
  if (layout != MPSGraphTensorNamedDataLayoutOIHW && layout != MPSGraphTensorNamedDataLayoutHWIO) {
    raise_invalid(@"[%@] The layout is %lu, but weights are OIHW or HWIO.", field, static_cast<unsigned long>(layout));
  }
  return layout;
}

BOOL unchecked(BOOL value, NSString*) { return value; }

}  // namespace

// The accessors of one field of a window.
#define WINDOW_PROPERTY(type, getter, setter, check)  \
  -(type)getter {                                     \
    return window_of(self).getter;                    \
  }                                                   \
  -(void)setter : (type)value {                       \
    window_of(self).getter = check(value, @ #getter); \
  }

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

- (instancetype)init {
  if ((self = [super init])) _impl = new Window;
  return self;
}

- (void)dealloc {
  delete static_cast<Window*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphConvolution2DOpDescriptor* copy = [[[self class] allocWithZone:zone] init];
  window_of(copy) = window_of(self);
  return copy;
}

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

- (instancetype)init {
  if ((self = [super init])) _impl = new Window;
  return self;
}

- (void)dealloc {
  delete static_cast<Window*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphPooling2DOpDescriptor* copy = [[[self class] allocWithZone:zone] init];
  window_of(copy) = window_of(self);
  return copy;
}

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

@end
