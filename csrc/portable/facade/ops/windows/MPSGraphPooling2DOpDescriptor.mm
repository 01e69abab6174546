// The geometry of a pooling.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowFields, MPSGraphPooling2DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphPooling2DOpDescriptor

DESCRIPTOR_WITH(MPSGraphPooling2DOpDescriptor, descriptorWithKernelWidth, takes(kernelWidth, NSUInteger),
                takes(kernelHeight, NSUInteger), takes(strideInX, NSUInteger), takes(strideInY, NSUInteger),
                takes(dilationRateInX, NSUInteger), takes(dilationRateInY, NSUInteger), takes(paddingLeft, NSUInteger),
                takes(paddingRight, NSUInteger), takes(paddingTop, NSUInteger), takes(paddingBottom, NSUInteger),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(dataLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_WITH(MPSGraphPooling2DOpDescriptor, descriptorWithKernelWidth, takes(kernelWidth, NSUInteger),
                takes(kernelHeight, NSUInteger), takes(strideInX, NSUInteger), takes(strideInY, NSUInteger),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(dataLayout, MPSGraphTensorNamedDataLayout))

DESCRIPTOR_LIFE(WindowFields, {})

WINDOW_OVER_IMAGES()
WINDOW_FIELD(NSUInteger, kernelWidth, setKernelWidth, checked_count)
WINDOW_FIELD(NSUInteger, kernelHeight, setKernelHeight, checked_count)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
DESCRIPTOR_FIELD(WindowFields, BOOL, ceilMode, setCeilMode)
DESCRIPTOR_FIELD(WindowFields, BOOL, includeZeroPadToAverage, setIncludeZeroPadToAverage)
WINDOW_FIELD(MPSGraphPoolingReturnIndicesMode, returnIndicesMode, setReturnIndicesMode, checked_indices_mode)
WINDOW_FIELD(MPSDataType, returnIndicesDataType, setReturnIndicesDataType, checked_indices_type)

@end
