// The geometry of a stencil over the last four axes.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

template <class Mode>
Mode checked_mode(Mode mode, Mode last, NSString* field) {
  if (mode < 0 || mode > last) raise_invalid(@"[%@] The mode %ld does not exist.", field, static_cast<long>(mode));
  return mode;
}

}  // namespace

namespace alloy::facade {

WindowLists& lists_of(MPSGraphStencilOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphStencilOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<WindowLists*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphStencilOpDescriptor

+ (instancetype)descriptorWithReductionMode:(MPSGraphReductionMode)reductionMode
                                    offsets:(MPSShape*)offsets
                                    strides:(MPSShape*)strides
                              dilationRates:(MPSShape*)dilationRates
                            explicitPadding:(MPSShape*)explicitPadding
                               boundaryMode:(MPSGraphPaddingMode)boundaryMode
                               paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                            paddingConstant:(float)paddingConstant {
  MPSGraphStencilOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setReductionMode:reductionMode];
  [descriptor setOffsets:offsets];
  [descriptor setStrides:strides];
  [descriptor setDilationRates:dilationRates];
  [descriptor setExplicitPadding:explicitPadding];
  [descriptor setBoundaryMode:boundaryMode];
  [descriptor setPaddingStyle:paddingStyle];
  [descriptor setPaddingConstant:paddingConstant];
  return descriptor;
}

+ (instancetype)descriptorWithOffsets:(MPSShape*)offsets explicitPadding:(MPSShape*)explicitPadding {
  MPSGraphStencilOpDescriptor* descriptor = [self descriptorWithExplicitPadding:explicitPadding];
  [descriptor setOffsets:offsets];
  [descriptor setPaddingStyle:MPSGraphPaddingStyleExplicitOffset];
  return descriptor;
}

+ (instancetype)descriptorWithExplicitPadding:(MPSShape*)explicitPadding {
  MPSGraphStencilOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setExplicitPadding:explicitPadding];
  return descriptor;
}

+ (instancetype)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphStencilOpDescriptor* descriptor = [[self new] autorelease];
  [descriptor setPaddingStyle:paddingStyle];
  return descriptor;
}

DESCRIPTOR_LIFE(WindowLists, (4))

WINDOW_LIST(offsets, setOffsets, 4, INT64_MIN)
WINDOW_LIST(strides, setStrides, 4, 1)
WINDOW_LIST(dilationRates, setDilationRates, 4, 1)
DESCRIPTOR_FIELD(WindowLists, float, paddingConstant, setPaddingConstant)

- (MPSShape*)explicitPadding {
  return mps_shape_of(ir::Shape(lists_of(self).paddingValues));
}

- (void)setExplicitPadding:(MPSShape*)value {
  lists_of(self).paddingValues = checked_list(value, 8, 0, @"explicitPadding");
}

- (MPSGraphReductionMode)reductionMode {
  return lists_of(self).reductionMode;
}

- (void)setReductionMode:(MPSGraphReductionMode)value {
  lists_of(self).reductionMode = checked_mode(value, MPSGraphReductionModeArgumentMax, @"reductionMode");
}

- (MPSGraphPaddingMode)boundaryMode {
  return lists_of(self).boundaryMode;
}

- (void)setBoundaryMode:(MPSGraphPaddingMode)value {
  lists_of(self).boundaryMode = checked_mode(value, MPSGraphPaddingModeAntiPeriodic, @"boundaryMode");
}

- (MPSGraphPaddingStyle)paddingStyle {
  return lists_of(self).paddingStyle;
}

- (void)setPaddingStyle:(MPSGraphPaddingStyle)value {
  lists_of(self).paddingStyle = checked_mode(value, MPSGraphPaddingStyleONNX_SAME_LOWER, @"paddingStyle");
}

@end
