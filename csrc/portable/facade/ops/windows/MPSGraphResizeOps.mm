// Images of another size, and the gradients.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;

namespace {

// How places of the source are found and used; what the flags say is not used where scales are given.
struct Sampling {
  const char* mode = "nearest";
  const char* rounding = "round_prefer_ceil";
  BOOL center = NO, align_corners = NO;
};

Sampling by_mode(MPSGraphResizeMode mode, BOOL center = NO, BOOL align_corners = NO) {
  if (mode > MPSGraphResizeBilinear) {
    raise_invalid(@"[resize] The mode %lu does not exist.", static_cast<unsigned long>(mode));
  }
  return {mode == MPSGraphResizeBilinear ? "bilinear" : "nearest", "round_prefer_ceil", center, align_corners};
}

Sampling by_rounding(MPSGraphResizeNearestRoundingMode mode, BOOL center = NO, BOOL align_corners = NO) {
  static constexpr const char* kWords[] = {"round_prefer_ceil", "round_prefer_floor", "ceil", "floor",
                                           "round_to_even",     "round_to_odd"};
  if (mode >= std::size(kWords)) {
    raise_invalid(@"[resize] The rounding mode %lu does not exist.", static_cast<unsigned long>(mode));
  }
  return {"nearest", kWords[mode], center, align_corners};
}

// The axes of height and width.
ir::Dims axes_of(MPSGraphTensorNamedDataLayout layout) {
  switch (layout) {
    case MPSGraphTensorNamedDataLayoutNCHW: return {2, 3};
    case MPSGraphTensorNamedDataLayoutNHWC: return {1, 2};
    case MPSGraphTensorNamedDataLayoutCHW: return {1, 2};
    case MPSGraphTensorNamedDataLayoutHWC: return {0, 1};
    case MPSGraphTensorNamedDataLayoutHW: return {0, 1};
    default: raise_invalid(@"[resize] The layout %lu is not one of images.", static_cast<unsigned long>(layout));
  }
}

void expect_layout(ir::Value images, MPSGraphTensorNamedDataLayout layout) {
  const int64_t rank = layout == MPSGraphTensorNamedDataLayoutHW                                                  ? 2
                       : layout == MPSGraphTensorNamedDataLayoutCHW || layout == MPSGraphTensorNamedDataLayoutHWC ? 3
                                                                                                                  : 4;
  if (images.shape().ranked() && images.shape().rank() == rank) return;
  raise_invalid(@"[resize] A tensor of rank %lld was expected for the layout, got shape %s.",
                static_cast<long long>(rank), to_string(images.shape()).c_str());
}

ir::Dims all_axes_of(ir::Value tensor) {
  if (!tensor.shape().ranked()) raise_invalid(@"[resize] A tensor of known rank was expected.");
  ir::Dims axes;
  for (int64_t i = 0; i < tensor.shape().rank(); ++i) axes.push_back(i);
  return axes;
}

ir::Attributes attributes_of(const Sampling& sampling, const ir::Dims& axes) {
  return {{Attr::kAxes, axes},
          {Attr::kResizeMode, std::string(sampling.mode)},
          {Attr::kRounding, std::string(sampling.rounding)},
          {Attr::kCenter, static_cast<bool>(sampling.center)},
          {Attr::kAlignCorners, static_cast<bool>(sampling.align_corners)}};
}

// `operands`: the source, then scales and offsets if they are given.
MPSGraphTensor* resize(MPSGraph* graph, const std::vector<ir::Value>& operands, const ir::Dims& axes,
                       const ir::Dims& size, const Sampling& sampling, NSString* name) {
  ir::Attributes attributes = attributes_of(sampling, axes);
  attributes.set(Attr::kSize, size);
  return add(graph, Composite::resize, operands, std::move(attributes), name);
}

MPSGraphTensor* resize(MPSGraph* graph, const std::vector<ir::Value>& operands, MPSGraphTensorNamedDataLayout layout,
                       const ir::Dims& size, const Sampling& sampling, NSString* name) {
  const ir::Dims axes = axes_of(layout);
  expect_layout(operands[0], layout);
  return resize(graph, operands, axes, size, sampling, name);
}

// `operands`: the incoming gradient and the source, then scales and offsets if they are given.
MPSGraphTensor* gradient_of(MPSGraph* graph, const std::vector<ir::Value>& operands, const ir::Dims& axes,
                            const Sampling& sampling, NSString* name) {
  return add(graph, Composite::resize_gradient, operands, attributes_of(sampling, axes), name);
}

MPSGraphTensor* gradient_of(MPSGraph* graph, const std::vector<ir::Value>& operands,
                            MPSGraphTensorNamedDataLayout layout, const Sampling& sampling, NSString* name) {
  const ir::Dims axes = axes_of(layout);
  expect_layout(operands[1], layout);
  return gradient_of(graph, operands, axes, sampling, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphResizeOps)

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                           size:(MPSShape*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, layout, numbers_of(size),
                by_mode(mode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, layout, numbers_of(numbers_in(self, size, "resize", "a size")),
                by_mode(mode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                              centerResult:(BOOL)centerResult
                              alignCorners:(BOOL)alignCorners
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, layout, numbers_of(numbers_in(self, size, "resize", "a size")),
                by_rounding(nearestRoundingMode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, layout, numbers_of(numbers_in(self, size, "resize", "a size")),
                by_mode(MPSGraphResizeBilinear, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
              scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                           mode:(MPSGraphResizeMode)mode
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scaleOffset)}, layout,
                numbers_of(numbers_in(self, size, "resize", "a size")), by_mode(mode), name);
}

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                         scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scaleOffset)}, layout,
                numbers_of(numbers_in(self, size, "resize", "a size")), by_rounding(nearestRoundingMode), name);
}

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                          scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scaleOffset)}, layout,
                numbers_of(numbers_in(self, size, "resize", "a size")), by_mode(MPSGraphResizeBilinear), name);
}

- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                                       mode:(MPSGraphResizeMode)mode
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input)}, layout,
                     by_mode(mode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                      centerResult:(BOOL)centerResult
                                      alignCorners:(BOOL)alignCorners
                                            layout:(MPSGraphTensorNamedDataLayout)layout
                                              name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input)}, layout,
                     by_rounding(nearestRoundingMode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                       centerResult:(BOOL)centerResult
                                       alignCorners:(BOOL)alignCorners
                                             layout:(MPSGraphTensorNamedDataLayout)layout
                                               name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input)}, layout,
                     by_mode(MPSGraphResizeBilinear, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                          scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                       mode:(MPSGraphResizeMode)mode
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input), value_of(self, scaleOffset)}, layout,
                     by_mode(mode), name);
}

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                                 scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                            layout:(MPSGraphTensorNamedDataLayout)layout
                                              name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input), value_of(self, scaleOffset)}, layout,
                     by_rounding(nearestRoundingMode), name);
}

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                  scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                             layout:(MPSGraphTensorNamedDataLayout)layout
                                               name:(NSString*)name {
  return gradient_of(self, {value_of(self, gradient), value_of(self, input), value_of(self, scaleOffset)}, layout,
                     by_mode(MPSGraphResizeBilinear), name);
}

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                           name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, all_axes_of(value_of(self, imagesTensor)),
                numbers_of(numbers_in(self, size, "resize", "a size")), by_mode(mode, centerResult, alignCorners),
                name);
}

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                              centerResult:(BOOL)centerResult
                              alignCorners:(BOOL)alignCorners
                                      name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, all_axes_of(value_of(self, imagesTensor)),
                numbers_of(numbers_in(self, size, "resize", "a size")),
                by_rounding(nearestRoundingMode, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                       name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor)}, all_axes_of(value_of(self, imagesTensor)),
                numbers_of(numbers_in(self, size, "resize", "a size")),
                by_mode(MPSGraphResizeBilinear, centerResult, alignCorners), name);
}

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                    scaleTensor:(MPSGraphTensor*)scale
                   offsetTensor:(MPSGraphTensor*)offset
                           mode:(MPSGraphResizeMode)mode
                           name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scale), value_of(self, offset)},
                all_axes_of(value_of(self, imagesTensor)), numbers_of(numbers_in(self, size, "resize", "a size")),
                by_mode(mode), name);
}

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                               scaleTensor:(MPSGraphTensor*)scale
                              offsetTensor:(MPSGraphTensor*)offset
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                      name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scale), value_of(self, offset)},
                all_axes_of(value_of(self, imagesTensor)), numbers_of(numbers_in(self, size, "resize", "a size")),
                by_rounding(nearestRoundingMode), name);
}

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                                scaleTensor:(MPSGraphTensor*)scale
                               offsetTensor:(MPSGraphTensor*)offset
                                       name:(NSString*)name {
  return resize(self, {value_of(self, imagesTensor), value_of(self, scale), value_of(self, offset)},
                all_axes_of(value_of(self, imagesTensor)), numbers_of(numbers_in(self, size, "resize", "a size")),
                by_mode(MPSGraphResizeBilinear), name);
}

- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                                scaleTensor:(MPSGraphTensor*)scale
                               offsetTensor:(MPSGraphTensor*)offset
                                       mode:(MPSGraphResizeMode)mode
                                       name:(NSString*)name {
  return gradient_of(self,
                     {value_of(self, gradient), value_of(self, input), value_of(self, scale), value_of(self, offset)},
                     all_axes_of(value_of(self, input)), by_mode(mode), name);
}

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                                       scaleTensor:(MPSGraphTensor*)scale
                                      offsetTensor:(MPSGraphTensor*)offset
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                              name:(NSString*)name {
  return gradient_of(self,
                     {value_of(self, gradient), value_of(self, input), value_of(self, scale), value_of(self, offset)},
                     all_axes_of(value_of(self, input)), by_rounding(nearestRoundingMode), name);
}

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                        scaleTensor:(MPSGraphTensor*)scale
                                       offsetTensor:(MPSGraphTensor*)offset
                                               name:(NSString*)name {
  return gradient_of(self,
                     {value_of(self, gradient), value_of(self, input), value_of(self, scale), value_of(self, offset)},
                     all_axes_of(value_of(self, input)), by_mode(MPSGraphResizeBilinear), name);
}

@end
