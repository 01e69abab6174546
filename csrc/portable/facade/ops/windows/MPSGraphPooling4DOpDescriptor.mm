// The geometry of a pooling over the last four axes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowLists, MPSGraphPooling4DOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphPooling4DOpDescriptor

DESCRIPTOR_WITH(MPSGraphPooling4DOpDescriptor, descriptorWithKernelSizes, takes(kernelSizes, NSArray<NSNumber*>*),
                takes(strides, NSArray<NSNumber*>*), takes(dilationRates, NSArray<NSNumber*>*),
                takes(paddingValues, NSArray<NSNumber*>*), takes(paddingStyle, MPSGraphPaddingStyle))

DESCRIPTOR_WITH(MPSGraphPooling4DOpDescriptor, descriptorWithKernelSizes, takes(kernelSizes, NSArray<NSNumber*>*),
                takes(paddingStyle, MPSGraphPaddingStyle))

DESCRIPTOR_LIFE(WindowLists, (4))

WINDOW_LIST(kernelSizes, setKernelSizes, 4, 1)
WINDOW_LIST(strides, setStrides, 4, 1)
WINDOW_LIST(dilationRates, setDilationRates, 4, 1)
WINDOW_LIST(paddingValues, setPaddingValues, 8, 0)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
DESCRIPTOR_FIELD(WindowLists, BOOL, ceilMode, setCeilMode)
DESCRIPTOR_FIELD(WindowLists, BOOL, includeZeroPadToAverage, setIncludeZeroPadToAverage)
WINDOW_FIELD(MPSGraphPoolingReturnIndicesMode, returnIndicesMode, setReturnIndicesMode, checked_indices_mode)
WINDOW_FIELD(MPSDataType, returnIndicesDataType, setReturnIndicesDataType, checked_indices_type)

@end
