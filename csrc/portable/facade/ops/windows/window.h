// The geometry of convolutions, poolings and columns: the fields of their descriptors, checks of each field, and
// conversions to ir. The op rules check if fields fit a source.
#pragma once

#include "facade/ops/descriptor.h"

namespace alloy::facade {

// The fields of a descriptor with one field for each axis.
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

// The fields of a descriptor with lists of numbers, one for each of `axes` axes.
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
  // Only for stencils.
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

// Numbers for two axes, in ir's order: y first.
ir::Dims dims_of(NSUInteger y, NSUInteger x);
// ir's word for a layout; raises for one that is neither of images nor of weights.
std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method);
// The attributes of an op whose window moves over height and width; volume_attributes: also over depth.
ir::Attributes window_attributes(const WindowFields& window, NSString* method);
ir::Attributes volume_attributes(const WindowFields& window, NSString* method);
// Adds a convolution's layout of the weights and number of groups.
ir::Attributes convolution_attributes(ir::Attributes attributes, const WindowFields& window, NSString* method);
// The attributes in an op's lists, without the window's lengths and the layout.
ir::Attributes list_attributes(const WindowLists& lists, NSString* method);

// Checks for setters of fields: each returns the value, or raises.
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
// Checks for `count` numbers of at least `least`.
ir::Dims checked_list(NSArray<NSNumber*>* numbers, int64_t count, int64_t least, NSString* field);

}  // namespace alloy::facade

// The accessors of a field, or of a list; `check` is the setter's check.
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

// The properties of every window over images. Without a property paddingStyle, the padding is explicit.
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

// The methods with two tensors and the shape of the result as numbers or as a tensor. `last` is the selector's part for
// the descriptor; `work` gets all arguments.
#define OUTPUT_SHAPE_SELECTORS(first, second, last, Descriptor, work)                  \
  OUTPUT_SHAPE_SELECTOR(first, second, outputShape, MPSShape*, last, Descriptor, work) \
  OUTPUT_SHAPE_SELECTOR(first, second, outputShapeTensor, MPSGraphTensor*, last, Descriptor, work)
#define OUTPUT_SHAPE_SELECTOR(first, second, shape, Shape, last, Descriptor, work)                                   \
  METHOD(MPSGraphTensor*, takes(first), takes(second), takes(shape, Shape), takes(last, Descriptor*), takes(name)) { \
    return work(self, first, second, shape, last, name);                                                             \
  }
