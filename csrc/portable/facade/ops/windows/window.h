// The geometry that convolutions, poolings and columns of windows share: the fields of their descriptors, each with its
// check, and what they mean in ir. Whether fields fit a source is for the op rules.
#pragma once

#include "facade/ops/descriptor.h"

namespace alloy::facade {

// What a descriptor with a field for each axis holds.
struct WindowFields {
  NSUInteger kernelWidth = 1, kernelHeight = 1;
  NSUInteger strideInX = 1, strideInY = 1, strideInZ = 1;
  NSUInteger dilationRateInX = 1, dilationRateInY = 1, dilationRateInZ = 1;
  NSUInteger paddingLeft = 0, paddingRight = 0, paddingTop = 0, paddingBottom = 0, paddingFront = 0, paddingBack = 0;
  NSUInteger groups = 1;
  MPSGraphPaddingStyle paddingStyle = MPSGraphPaddingStyleExplicit;
  MPSGraphTensorNamedDataLayout dataLayout = MPSGraphTensorNamedDataLayoutNHWC;
  MPSGraphTensorNamedDataLayout weightsLayout = MPSGraphTensorNamedDataLayoutHWIO;
  BOOL ceilMode = NO;
  BOOL includeZeroPadToAverage = NO;
  MPSGraphPoolingReturnIndicesMode returnIndicesMode = MPSGraphPoolingReturnIndicesNone;
  MPSDataType returnIndicesDataType = MPSDataTypeInt32;
};

// What a descriptor with lists of numbers for so many axes holds.
struct WindowLists {
  explicit WindowLists(int64_t axes)
      : kernelSizes(axes, 1), strides(axes, 1), dilationRates(axes, 1), paddingValues(2 * axes, 0) {}

  ir::Dims kernelSizes, strides, dilationRates, paddingValues;
  MPSGraphPaddingStyle paddingStyle = MPSGraphPaddingStyleExplicit;
  BOOL ceilMode = NO;
  BOOL includeZeroPadToAverage = NO;
  MPSGraphPoolingReturnIndicesMode returnIndicesMode = MPSGraphPoolingReturnIndicesNone;
  MPSDataType returnIndicesDataType = MPSDataTypeInt32;
  NSInteger channelDimensionIndex = -4;
  // Of stencils.
  ir::Dims offsets = ir::Dims(4, 0);
  MPSGraphReductionMode reductionMode = MPSGraphReductionModeSum;
  MPSGraphPaddingMode boundaryMode = MPSGraphPaddingModeZero;
  float paddingConstant = 0;
};

WindowFields& fields_of(MPSGraphConvolution2DOpDescriptor* descriptor);
WindowFields& fields_of(MPSGraphConvolution3DOpDescriptor* descriptor);
WindowFields& fields_of(MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor);
WindowFields& fields_of(MPSGraphPooling2DOpDescriptor* descriptor);
WindowFields& fields_of(MPSGraphImToColOpDescriptor* descriptor);
WindowLists& fields_of(MPSGraphPooling4DOpDescriptor* descriptor);
WindowLists& fields_of(MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor);
WindowLists& fields_of(MPSGraphStencilOpDescriptor* descriptor);

// What is given for two axes, y first, as ir has it.
ir::Dims dims_of(NSUInteger y, NSUInteger x);
// The words of ir for a layout; raises for one that is neither of images nor of weights.
std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method);
// The attributes of an op whose window moves over height and width, or over depth, too.
ir::Attributes window_attributes(const WindowFields& window, NSString* method);
ir::Attributes volume_attributes(const WindowFields& window, NSString* method);
// `attributes` and, besides, the layout of the weights and the groups that a convolution has.
ir::Attributes convolution_attributes(ir::Attributes attributes, const WindowFields& window, NSString* method);
// The attributes that an op's lists give; without the window's lengths and the layout.
ir::Attributes list_attributes(const WindowLists& lists, NSString* method);

// What a setter of the field takes: each returns the value, or raises.
NSUInteger checked_count(NSUInteger value, NSString* field);
NSUInteger checked_length(NSUInteger value, NSString* field);
MPSGraphPaddingStyle checked_style(MPSGraphPaddingStyle style, NSString* field);
MPSGraphTensorNamedDataLayout checked_data_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
MPSGraphTensorNamedDataLayout checked_weights_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
MPSGraphTensorNamedDataLayout checked_volume_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
MPSGraphTensorNamedDataLayout checked_volume_weights_layout(MPSGraphTensorNamedDataLayout layout, NSString* field);
MPSGraphPoolingReturnIndicesMode checked_indices_mode(MPSGraphPoolingReturnIndicesMode mode, NSString* field);
MPSDataType checked_indices_type(MPSDataType type, NSString* field);
NSInteger checked_channel_index(NSInteger index, NSString* field);
// So many numbers of at least `least`.
ir::Dims checked_list(NSArray<NSNumber*>* numbers, int64_t count, int64_t least, NSString* field);

}  // namespace alloy::facade

// The accessors of one field, or of one list; `check` is what the setter takes.
#define WINDOW_FIELD(type, getter, setter, check)     \
  GETTER(type, getter, fields_of(self).getter)        \
  -(void)setter : (type)value {                       \
    fields_of(self).getter = check(value, @ #getter); \
  }
#define WINDOW_LIST(getter, setter, count, least)                          \
  -(NSArray<NSNumber*>*)getter {                                           \
    return mps_shape_of(ir::Shape(fields_of(self).getter));                \
  }                                                                        \
  -(void)setter : (NSArray<NSNumber*>*)value {                             \
    fields_of(self).getter = checked_list(value, count, least, @ #getter); \
  }

// The properties along x and y.
#define WINDOW_AXES()                                                          \
  WINDOW_FIELD(NSUInteger, strideInX, setStrideInX, checked_count)             \
  WINDOW_FIELD(NSUInteger, strideInY, setStrideInY, checked_count)             \
  WINDOW_FIELD(NSUInteger, dilationRateInX, setDilationRateInX, checked_count) \
  WINDOW_FIELD(NSUInteger, dilationRateInY, setDilationRateInY, checked_count) \
  WINDOW_FIELD(NSUInteger, paddingLeft, setPaddingLeft, checked_length)        \
  WINDOW_FIELD(NSUInteger, paddingRight, setPaddingRight, checked_length)      \
  WINDOW_FIELD(NSUInteger, paddingTop, setPaddingTop, checked_length)          \
  WINDOW_FIELD(NSUInteger, paddingBottom, setPaddingBottom, checked_length)

// What every window over images has. Where there is no property paddingStyle, the padding is always explicit.
#define WINDOW_OVER_IMAGES()                                                                          \
  WINDOW_AXES()                                                                                       \
  WINDOW_FIELD(MPSGraphTensorNamedDataLayout, dataLayout, setDataLayout, checked_data_layout)         \
  METHOD(void, takes(setExplicitPaddingWithPaddingLeft, NSUInteger), takes(paddingRight, NSUInteger), \
         takes(paddingTop, NSUInteger), takes(paddingBottom, NSUInteger)) {                           \
    self.paddingLeft = setExplicitPaddingWithPaddingLeft;                                             \
    self.paddingRight = paddingRight;                                                                 \
    self.paddingTop = paddingTop;                                                                     \
    self.paddingBottom = paddingBottom;                                                               \
    fields_of(self).paddingStyle = MPSGraphPaddingStyleExplicit;                                      \
  }

// The selectors of two tensors and the shape of the result, which is given itself or in a tensor. `last` is the part of
// the descriptor; all arguments go to `work`.
#define OUTPUT_SHAPE_SELECTORS(first, second, last, Descriptor, work)                  \
  OUTPUT_SHAPE_SELECTOR(first, second, outputShape, MPSShape*, last, Descriptor, work) \
  OUTPUT_SHAPE_SELECTOR(first, second, outputShapeTensor, MPSGraphTensor*, last, Descriptor, work)
#define OUTPUT_SHAPE_SELECTOR(first, second, shape, Shape, last, Descriptor, work)                                   \
  METHOD(MPSGraphTensor*, takes(first), takes(second), takes(shape, Shape), takes(last, Descriptor*), takes(name)) { \
    return work(self, first, second, shape, last, name);                                                             \
  }
