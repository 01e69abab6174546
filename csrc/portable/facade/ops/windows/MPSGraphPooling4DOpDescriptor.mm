// The geometry of a pooling over the last four axes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

WindowLists& lists_of(MPSGraphPooling4DOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphPooling4DOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowLists*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphPooling4DOpDescriptor

+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                  strides:(NSArray<NSNumber*>*)strides
                            dilationRates:(NSArray<NSNumber*>*)dilationRates
                            paddingValues:(NSArray<NSNumber*>*)paddingValues
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphPooling4DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setKernelSizes:kernelSizes];
  [descriptor setStrides:strides];
  [descriptor setDilationRates:dilationRates];
  [descriptor setPaddingValues:paddingValues];
  [descriptor setPaddingStyle:paddingStyle];
  return descriptor;
}

+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphPooling4DOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setKernelSizes:kernelSizes];
  [descriptor setPaddingStyle:paddingStyle];
  return descriptor;
}

DESCRIPTOR_LIFE(WindowLists, (4))

WINDOW_LIST(kernelSizes, setKernelSizes, 4, 1)
WINDOW_LIST(strides, setStrides, 4, 1)
WINDOW_LIST(dilationRates, setDilationRates, 4, 1)
WINDOW_LIST(paddingValues, setPaddingValues, 8, 0)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_style)
WINDOW_FIELD(BOOL, ceilMode, setCeilMode, unchecked)
WINDOW_FIELD(BOOL, includeZeroPadToAverage, setIncludeZeroPadToAverage, unchecked)
WINDOW_FIELD(MPSGraphPoolingReturnIndicesMode, returnIndicesMode, setReturnIndicesMode, checked_indices_mode)
WINDOW_FIELD(MPSDataType, returnIndicesDataType, setReturnIndicesDataType, checked_indices_type)

@end
