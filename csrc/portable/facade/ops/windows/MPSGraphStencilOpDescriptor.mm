// The geometry of a stencil over the last four axes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

template <auto last>
decltype(last) checked_mode(decltype(last) mode, NSString* field) {
  if (mode < 0 || mode > last) raise_invalid(@"[%@] The mode %ld does not exist.", field, static_cast<long>(mode));
  return mode;
}

}  // namespace

namespace alloy::facade {

DESCRIPTOR_FIELDS(WindowLists, MPSGraphStencilOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphStencilOpDescriptor

DESCRIPTOR_WITH(MPSGraphStencilOpDescriptor, descriptorWithReductionMode, takes(reductionMode, MPSGraphReductionMode),
                takes(offsets, MPSShape*), takes(strides, MPSShape*), takes(dilationRates, MPSShape*),
                takes(explicitPadding, MPSShape*), takes(boundaryMode, MPSGraphPaddingMode),
                takes(paddingStyle, MPSGraphPaddingStyle), takes(paddingConstant, float))

+ (instancetype)descriptorWithOffsets:(MPSShape*)offsets explicitPadding:(MPSShape*)explicitPadding {
  MPSGraphStencilOpDescriptor* descriptor = [self descriptorWithExplicitPadding:explicitPadding];
  [descriptor setOffsets:offsets];
  [descriptor setPaddingStyle:MPSGraphPaddingStyleExplicitOffset];
  return descriptor;
}

DESCRIPTOR_WITH(MPSGraphStencilOpDescriptor, descriptorWithExplicitPadding, takes(explicitPadding, MPSShape*))

DESCRIPTOR_WITH(MPSGraphStencilOpDescriptor, descriptorWithPaddingStyle, takes(paddingStyle, MPSGraphPaddingStyle))

DESCRIPTOR_LIFE(WindowLists, (4))

WINDOW_LIST(offsets, setOffsets, 4, INT64_MIN)
WINDOW_LIST(strides, setStrides, 4, 1)
WINDOW_LIST(dilationRates, setDilationRates, 4, 1)
DESCRIPTOR_FIELD(WindowLists, float, paddingConstant, setPaddingConstant)

- (MPSShape*)explicitPadding {
  return mps_shape_of(ir::Shape(fields_of(self).paddingValues));
}

- (void)setExplicitPadding:(MPSShape*)value {
  fields_of(self).paddingValues = checked_list(value, 8, 0, @"explicitPadding");
}

WINDOW_FIELD(MPSGraphReductionMode, reductionMode, setReductionMode, checked_mode<MPSGraphReductionModeArgumentMax>)
WINDOW_FIELD(MPSGraphPaddingMode, boundaryMode, setBoundaryMode, checked_mode<MPSGraphPaddingModeAntiPeriodic>)
WINDOW_FIELD(MPSGraphPaddingStyle, paddingStyle, setPaddingStyle, checked_mode<MPSGraphPaddingStyleONNX_SAME_LOWER>)

@end
