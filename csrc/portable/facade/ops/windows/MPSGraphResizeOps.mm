// Images resized, and the gradients.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;

namespace {

using Layout = MPSGraphTensorNamedDataLayout;

// How positions in the source are computed and used; flags are ignored if scales are given.
struct Sampling {
  const char* mode = "nearest";
  const char* rounding = "round_prefer_ceil";
  BOOL center = NO, align_corners = NO;
};

Sampling sampling_of(MPSGraphResizeMode mode, BOOL center = NO, BOOL align_corners = NO) {
  if (mode > MPSGraphResizeBilinear) {
    raise_invalid(@"[resize] The mode %lu does not exist.", static_cast<unsigned long>(mode));
  }
  return {mode == MPSGraphResizeBilinear ? "bilinear" : "nearest", "round_prefer_ceil", center, align_corners};
}

Sampling sampling_of(MPSGraphResizeNearestRoundingMode mode, BOOL center = NO, BOOL align_corners = NO) {
  static constexpr const char* kWords[] = {"round_prefer_ceil", "round_prefer_floor", "ceil", "floor",
                                           "round_to_even",     "round_to_odd"};
  if (mode >= std::size(kWords)) {
    raise_invalid(@"[resize] The rounding mode %lu does not exist.", static_cast<unsigned long>(mode));
  }
  return {"nearest", kWords[mode], center, align_corners};
}

// The axes of height and width.
ir::Dims axes_of(Layout layout) {
  switch (layout) {
    case MPSGraphTensorNamedDataLayoutNCHW: return {2, 3};
    case MPSGraphTensorNamedDataLayoutNHWC: return {1, 2};
    case MPSGraphTensorNamedDataLayoutCHW: return {1, 2};
    case MPSGraphTensorNamedDataLayoutHWC: return {0, 1};
    case MPSGraphTensorNamedDataLayoutHW: return {0, 1};
    default: raise_invalid(@"[resize] The layout %lu is not one of images.", static_cast<unsigned long>(layout));
  }
}

void expect_layout(ir::Value images, Layout layout) {
  const int64_t rank = layout == MPSGraphTensorNamedDataLayoutHW                                                  ? 2
                       : layout == MPSGraphTensorNamedDataLayoutCHW || layout == MPSGraphTensorNamedDataLayoutHWC ? 3
                                                                                                                  : 4;
  if (images.shape().ranked() && images.shape().rank() == rank) return;
  raise_invalid(@"[resize] A tensor of rank %lld was expected for the layout, got shape %s.",
                static_cast<long long>(rank), to_string(images.shape()).c_str());
}

// The axes of height and width for images of the layout; all axes of a tensor without a layout.
ir::Dims axes_in(MPSGraph* graph, MPSGraphTensor* images, Layout layout) {
  const ir::Dims axes = axes_of(layout);
  expect_layout(value_of(graph, images), layout);
  return axes;
}

ir::Dims axes_in(MPSGraph* graph, MPSGraphTensor* tensor) {
  const ir::Shape& shape = value_of(graph, tensor).shape();
  if (!shape.ranked()) raise_invalid(@"[resize] A tensor of known rank was expected.");
  ir::Dims axes;
  for (int64_t i = 0; i < shape.rank(); ++i) axes.push_back(i);
  return axes;
}

MPSShape* size_in(MPSGraph* graph, MPSGraphTensor* tensor) { return numbers_in(graph, tensor, "resize", "a size"); }

using Tensors = std::initializer_list<MPSGraphTensor*>;

MPSGraphTensor* add_resize(MPSGraph* graph, Composite composite, Tensors tensors, ir::Attributes attributes,
                           const ir::Dims& axes, const Sampling& sampling, NSString* name) {
  attributes.set(Attr::kAxes, axes);
  attributes.set(Attr::kResizeMode, std::string(sampling.mode));
  attributes.set(Attr::kRounding, std::string(sampling.rounding));
  attributes.set(Attr::kCenter, sampling.center != NO);
  attributes.set(Attr::kAlignCorners, sampling.align_corners != NO);
  std::vector<ir::Value> operands;
  for (MPSGraphTensor* tensor : tensors) operands.push_back(value_of(graph, tensor));
  return add(graph, composite, operands, std::move(attributes), name);
}

// `tensors`: the source, then scales and offsets if they are given.
MPSGraphTensor* resize(MPSGraph* graph, Tensors tensors, MPSShape* size, const ir::Dims& axes, const Sampling& sampling,
                       NSString* name) {
  return add_resize(graph, Composite::resize, tensors, {{Attr::kSize, numbers_of(size)}}, axes, sampling, name);
}

// `tensors`: the incoming gradient and the source, then scales and offsets if they are given.
MPSGraphTensor* gradient_of(MPSGraph* graph, Tensors tensors, const ir::Dims& axes, const Sampling& sampling,
                            NSString* name) {
  return add_resize(graph, Composite::resize_gradient, tensors, {}, axes, sampling, name);
}

}  // namespace

// The methods with a mode of type `Mode`, whose selector has the part `mode`, and their gradients: for images of a
// layout, and for tensors whose axes may all change.
#define RESIZE(selector, gradient, mode, Mode)                                                                       \
  METHOD(MPSGraphTensor*, takes(selector), takes(sizeTensor), takes(mode, Mode), takes(centerResult, BOOL),          \
         takes(alignCorners, BOOL), takes(layout, Layout), takes(name)) {                                            \
    return resize(self, {selector}, size_in(self, sizeTensor), axes_in(self, selector, layout),                      \
                  sampling_of(mode, centerResult, alignCorners), name);                                              \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(selector), takes(sizeTensor), takes(scaleOffsetTensor), takes(mode, Mode),           \
         takes(layout, Layout), takes(name)) {                                                                       \
    return resize(self, {selector, scaleOffsetTensor}, size_in(self, sizeTensor), axes_in(self, selector, layout),   \
                  sampling_of(mode), name);                                                                          \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(selector), takes(sizeTensor), takes(mode, Mode), takes(centerResult, BOOL),          \
         takes(alignCorners, BOOL), takes(name)) {                                                                   \
    return resize(self, {selector}, size_in(self, sizeTensor), axes_in(self, selector),                              \
                  sampling_of(mode, centerResult, alignCorners), name);                                              \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(selector), takes(sizeTensor), takes(scaleTensor), takes(offsetTensor),               \
         takes(mode, Mode), takes(name)) {                                                                           \
    return resize(self, {selector, scaleTensor, offsetTensor}, size_in(self, sizeTensor), axes_in(self, selector),   \
                  sampling_of(mode), name);                                                                          \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(gradient), takes(input), takes(mode, Mode), takes(centerResult, BOOL),               \
         takes(alignCorners, BOOL), takes(layout, Layout), takes(name)) {                                            \
    return gradient_of(self, {gradient, input}, axes_in(self, input, layout),                                        \
                       sampling_of(mode, centerResult, alignCorners), name);                                         \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(gradient), takes(input), takes(scaleOffsetTensor), takes(mode, Mode),                \
         takes(layout, Layout), takes(name)) {                                                                       \
    return gradient_of(self, {gradient, input, scaleOffsetTensor}, axes_in(self, input, layout), sampling_of(mode),  \
                       name);                                                                                        \
  }                                                                                                                  \
  METHOD(MPSGraphTensor*, takes(gradient), takes(input), takes(scaleTensor), takes(offsetTensor), takes(mode, Mode), \
         takes(name)) {                                                                                              \
    return gradient_of(self, {gradient, input, scaleTensor, offsetTensor}, axes_in(self, input), sampling_of(mode),  \
                       name);                                                                                        \
  }

@implementation MPSGraph (MPSGraphResizeOps)

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)images
                           size:(MPSShape*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(Layout)layout
                           name:(NSString*)name {
  return resize(self, {images}, size, axes_in(self, images, layout), sampling_of(mode, centerResult, alignCorners),
                name);
}

RESIZE(resizeTensor, resizeWithGradientTensor, mode, MPSGraphResizeMode)
RESIZE(resizeNearestWithTensor, resizeNearestWithGradientTensor, nearestRoundingMode, MPSGraphResizeNearestRoundingMode)

FORWARD(MPSGraphTensor*, takes(resizeBilinearWithTensor), sends(resizeTensor, resizeBilinearWithTensor),
        passes(sizeTensor), sends(mode, MPSGraphResizeBilinear), passes(centerResult, BOOL), passes(alignCorners, BOOL),
        passes(layout, Layout), passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithTensor), sends(resizeTensor, resizeBilinearWithTensor),
        passes(sizeTensor), passes(scaleOffsetTensor), sends(mode, MPSGraphResizeBilinear), passes(layout, Layout),
        passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithTensor), sends(resizeTensor, resizeBilinearWithTensor),
        passes(sizeTensor), sends(mode, MPSGraphResizeBilinear), passes(centerResult, BOOL), passes(alignCorners, BOOL),
        passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithTensor), sends(resizeTensor, resizeBilinearWithTensor),
        passes(sizeTensor), passes(scaleTensor), passes(offsetTensor), sends(mode, MPSGraphResizeBilinear),
        passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithGradientTensor),
        sends(resizeWithGradientTensor, resizeBilinearWithGradientTensor), passes(input),
        sends(mode, MPSGraphResizeBilinear), passes(centerResult, BOOL), passes(alignCorners, BOOL),
        passes(layout, Layout), passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithGradientTensor),
        sends(resizeWithGradientTensor, resizeBilinearWithGradientTensor), passes(input), passes(scaleOffsetTensor),
        sends(mode, MPSGraphResizeBilinear), passes(layout, Layout), passes(name))
FORWARD(MPSGraphTensor*, takes(resizeBilinearWithGradientTensor),
        sends(resizeWithGradientTensor, resizeBilinearWithGradientTensor), passes(input), passes(scaleTensor),
        passes(offsetTensor), sends(mode, MPSGraphResizeBilinear), passes(name))

@end
