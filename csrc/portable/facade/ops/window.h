// The geometry that convolutions and poolings share: the fields of their descriptors, each with its check, and what
// they mean in ir. Whether fields fit a source is for the op rules.
#pragma once

#include "facade/graph/build.h"

namespace alloy::facade {

// What a descriptor of either holds.
struct WindowFields {
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

WindowFields& window_of(MPSGraphConvolution2DOpDescriptor* descriptor);
WindowFields& window_of(MPSGraphPooling2DOpDescriptor* descriptor);

// What is given for two axes, y first, as ir has it.
ir::Dims dims_of(NSUInteger y, NSUInteger x);
// The words of ir for a layout; raises for one that is neither of images nor of weights.
std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method);
// The attributes that convolutions and poolings have in common.
ir::Attributes window_attributes(const WindowFields& window, NSString* method);

// What a setter of the field takes: each returns the value, or raises.
NSUInteger checked_count(NSUInteger value, NSString* field);
NSUInteger checked_length(NSUInteger value, NSString* field);
MPSGraphPaddingStyle checked_style(MPSGraphPaddingStyle style, NSString* field);
MPSGraphTensorNamedDataLayout checked_data_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
MPSGraphTensorNamedDataLayout checked_weights_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
inline BOOL unchecked(BOOL value, NSString*) { return value; }

}  // namespace alloy::facade

// The accessors of one field of a window.
#define WINDOW_PROPERTY(type, getter, setter, check)  \
  -(type)getter {                                     \
    return window_of(self).getter;                    \
  }                                                   \
  -(void)setter : (type)value {                       \
    window_of(self).getter = check(value, @ #getter); \
  }
