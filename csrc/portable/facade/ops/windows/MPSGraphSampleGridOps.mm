// Images sampled at coordinates that a tensor holds.

#include <optional>

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::DType;
using ir::Expr;

namespace {

// The options of a sampling. Without a rounding, samples are bilinear.
struct GridSampling {
  MPSGraphTensorNamedDataLayout layout;
  BOOL is_normalized, is_relative, aligns_corners;
  MPSGraphPaddingMode beyond;
  double constant;
  std::optional<MPSGraphResizeNearestRoundingMode> rounding;

  bool has_constant() const { return beyond == MPSGraphPaddingModeConstant || beyond == MPSGraphPaddingModeZero; }
};

Expr held(Expr x, double low, double high) { return ir::apply(ir::OpCode::clamp, {x, x.scalar(low), x.scalar(high)}); }

// Coordinates along `axis` of the coordinates tensor as positions, counted in elements from the center of the first
// one.
Expr placed(const GridSampling& s, Expr x, int64_t extent, int64_t axis) {
  const auto n = static_cast<double>(extent);
  if (s.is_relative) {
    const Expr own =
        cast(reshape(ir::range(x.graph(), DType::int32, extent), axis == 1 ? ir::Dims{extent, 1} : ir::Dims{extent}),
             DType::float32);
    return own + (s.is_normalized ? x * ((s.aligns_corners ? n - 1 : n) / 2) : x);
  }
  if (!s.is_normalized) return x;
  return s.aligns_corners ? (x + 1.0) * ((n - 1) / 2) : ((x + 1.0) * n - 1.0) * 0.5;
}

// Replaces positions outside the image by the positions inside whose elements continue it, or, for constants, by
// positions up to one element outside. NaN counts as a position before the first element.
Expr folded(const GridSampling& s, Expr x, int64_t extent) {
  const auto n = static_cast<double>(extent);
  if (s.has_constant()) return held(x, -1, n);
  if (s.beyond == MPSGraphPaddingModeClampToEdge || extent == 1) return held(x, 0, n - 1);
  // Mirrored at the centers of the outer elements ("reflect"), or at their edges.
  const double shift = s.beyond == MPSGraphPaddingModeReflect ? 0 : 0.5, period = 2 * (n - 1 + 2 * shift);
  const Expr along = mod(shift == 0 ? x : x + shift, x.scalar(period)), near = minimum(along, period - along);
  return held(shift == 0 ? near : near - shift, 0, n - 1);
}

Expr rounded(Expr x, MPSGraphResizeNearestRoundingMode rounding) {
  const Expr below = floor(x), part = x - below;
  switch (rounding) {
    case MPSGraphResizeNearestRoundingModeRoundPreferCeil: return select(part < 0.5, below, below + 1.0);
    case MPSGraphResizeNearestRoundingModeRoundPreferFloor: return select(part > 0.5, below + 1.0, below);
    case MPSGraphResizeNearestRoundingModeCeil: return ceil(x);
    case MPSGraphResizeNearestRoundingModeFloor: return below;
    case MPSGraphResizeNearestRoundingModeRoundToEven: return rint(x);
    default: return rint(x - 1.0) + 1.0;  // halves to odd
  }
}

Expr sampled(const GridSampling& s, Expr source, Expr coordinates) {
  const bool channels_last = s.layout == MPSGraphTensorNamedDataLayoutNHWC;
  const int64_t first = channels_last ? 1 : 2;  // the axis of height
  const ir::Shape& shape = source.shape();
  const int64_t height = shape[first], width = shape[first + 1];
  ir::Dims dims = shape.dims();
  dims.erase(dims.begin() + first + 1);
  dims[first] = height * width;
  const Expr flat = reshape(source, dims), wide = cast(coordinates, DType::float32);
  const auto along = [&](int64_t k, int64_t extent) {
    const Expr x = squeeze(slice(wide, 3, k, k + 1), {3});
    return folded(s, placed(s, x, extent, k == 0 ? 2 : 1), extent);
  };
  const Expr x = along(0, width), y = along(1, height);
  // With an axis to broadcast against elements.
  const auto of_pixels = [&](Expr e) { return expand_dims(e, {channels_last ? 3 : 1}); };
  const auto is_inside = [](Expr e, double extent) { return logical_and(e > -0.5, e < extent - 0.5); };
  const auto element = [&](Expr row, Expr column) {
    const auto index = [](Expr e, int64_t extent) {
      return cast(held(e, 0, static_cast<double>(extent - 1)), DType::int32);
    };
    const Expr at = index(row, height) * static_cast<double>(width) + index(column, width);
    const Expr found = gather(flat, at, first, 1);
    if (!s.has_constant()) return found;
    const double constant = s.beyond == MPSGraphPaddingModeConstant ? s.constant : 0;
    const Expr inside =
        logical_and(is_inside(row, static_cast<double>(height)), is_inside(column, static_cast<double>(width)));
    return select(of_pixels(inside), found, constant);
  };
  if (s.rounding) return element(rounded(y, *s.rounding), rounded(x, *s.rounding));
  const Expr top = floor(y), left = floor(x), lower = of_pixels(y - top), right = of_pixels(x - left);
  const DType dtype = source.value().dtype();
  const auto corner = [&](double down, double across, Expr weight) {
    return cast(element(top + down, left + across), DType::float32) * weight;
  };
  return cast(corner(0, 0, (1.0 - lower) * (1.0 - right)) + corner(0, 1, (1.0 - lower) * right) +
                  corner(1, 0, lower * (1.0 - right)) + corner(1, 1, lower * right),
              dtype);
}

bool is_floating(ir::Value value) { return kind(value.dtype()) == ir::DTypeKind::kFloating; }

void check(const GridSampling& s, ir::Value source, ir::Value coordinates) {
  const bool is_image = s.layout == MPSGraphTensorNamedDataLayoutNHWC || s.layout == MPSGraphTensorNamedDataLayoutNCHW;
  if (!is_image) {
    raise_invalid(@"[sampleGrid] The layout is %lu, but images are NCHW or NHWC.",
                  static_cast<unsigned long>(s.layout));
  }
  if (!s.has_constant() && s.beyond != MPSGraphPaddingModeReflect && s.beyond != MPSGraphPaddingModeSymmetric &&
      s.beyond != MPSGraphPaddingModeClampToEdge) {
    raise_invalid(@"[sampleGrid] The padding mode is %ld, but Constant, Reflect, Symmetric, ClampToEdge or Zero was "
                  @"expected.",
                  static_cast<long>(s.beyond));
  }
  const ir::Shape &image = source.shape(), &places = coordinates.shape();
  if (!image.ranked() || image.rank() != 4 || !places.ranked() || places.rank() != 4 || places[3] != 2 ||
      (image[0] != places[0] && image[0] != ir::kUnknown && places[0] != ir::kUnknown)) {
    raise_invalid(@"[sampleGrid] A source of rank 4 and coordinates (N, H, W, 2) for as many images were expected, got "
                  @"%s and %s.",
                  to_string(image).c_str(), to_string(places).c_str());
  }
  for (int64_t axis = 1; axis < 4; ++axis) {
    if (image[axis] > 0) continue;
    raise_invalid(@"[sampleGrid] A source with known height, width and channels was expected, got %s.",
                  to_string(image).c_str());
  }
  if (!is_floating(coordinates) || (!s.rounding && !is_floating(source))) {
    raise_invalid(@"[sampleGrid] Coordinates, and the source of bilinear samples, are floats; got %s and %s.",
                  to_string(coordinates.type()).c_str(), to_string(source.type()).c_str());
  }
  const int64_t first = s.layout == MPSGraphTensorNamedDataLayoutNHWC ? 1 : 2;
  if (image[first] > INT32_MAX / image[first + 1]) {
    raise_invalid(@"[sampleGrid] The source %s has more elements than Int32 counts.", to_string(image).c_str());
  }
  if (!s.is_normalized && !s.is_relative && !s.aligns_corners) {
    raise_invalid(@"[sampleGrid] Positions without alignCorners are documented only for normalized coordinates; "
                  @"use alignCorners:YES.");
  }
  if (s.is_relative && (places[1] != image[first] || places[2] != image[first + 1])) {
    raise_invalid(@"[sampleGrid] The scale of relative coordinates is not documented: coordinates of the source's "
                  @"height and width were expected, got %s for %s.",
                  to_string(places).c_str(), to_string(image).c_str());
  }
}

MPSGraphTensor* sample(MPSGraph* graph, MPSGraphTensor* source, MPSGraphTensor* coordinates, const GridSampling& s,
                       NSString* name) {
  check(s, value_of(graph, source), value_of(graph, coordinates));
  const Expr image = expr_of(graph, source), places = expr_of(graph, coordinates);
  return compose(graph, name, [&] { return sampled(s, image, places); });
}

std::optional<MPSGraphResizeNearestRoundingMode> rounding_of(MPSGraphResizeMode mode) {
  if (mode == MPSGraphResizeBilinear) return std::nullopt;
  if (mode == MPSGraphResizeNearest) return MPSGraphResizeNearestRoundingModeRoundPreferCeil;
  raise_invalid(@"[sampleGrid] The mode %lu does not exist.", static_cast<unsigned long>(mode));
}

MPSGraphResizeNearestRoundingMode rounding_of(MPSGraphResizeNearestRoundingMode mode) {
  if (mode <= MPSGraphResizeNearestRoundingModeRoundToOdd) return mode;
  raise_invalid(@"[sampleGrid] The rounding mode %lu does not exist.", static_cast<unsigned long>(mode));
}

}  // namespace

// The method with a mode of type `Mode`.
#define SAMPLE_GRID(mode, Mode)                                                                                 \
  METHOD(MPSGraphTensor*, takes(sampleGridWithSourceTensor), takes(coordinateTensor),                           \
         takes(layout, MPSGraphTensorNamedDataLayout), takes(normalizeCoordinates, BOOL),                       \
         takes(relativeCoordinates, BOOL), takes(alignCorners, BOOL), takes(paddingMode, MPSGraphPaddingMode),  \
         takes(mode, Mode), takes(constantValue, double), takes(name)) {                                        \
    return sample(self, sampleGridWithSourceTensor, coordinateTensor,                                           \
                  {layout, normalizeCoordinates, relativeCoordinates, alignCorners, paddingMode, constantValue, \
                   rounding_of(mode)},                                                                          \
                  name);                                                                                        \
  }

@implementation MPSGraph (MPSGraphSampleGrid)

SAMPLE_GRID(samplingMode, MPSGraphResizeMode)
SAMPLE_GRID(nearestRoundingMode, MPSGraphResizeNearestRoundingMode)

@end
