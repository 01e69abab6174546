// Images of another size by every selector, in every layout, mode and rounding, and the gradients, against matrices
// made from the definition.

#include "graph_testing.h"

using Layout = MPSGraphTensorNamedDataLayout;
using Rounding = MPSGraphResizeNearestRoundingMode;

// How one axis becomes another.
struct Axis {
  long in, out;
  double scale = 0, offset = 0;  // used where the scale is not 0
};

struct Way {
  bool is_bilinear;
  Rounding rounding = MPSGraphResizeNearestRoundingModeRoundPreferCeil;
  bool centers = false, aligns = false;
};

static double place_of(const Axis& axis, const Way& way, long d) {
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out), at = static_cast<double>(d);
  if (axis.scale != 0) return (at - axis.offset) / axis.scale;
  if (way.aligns) return at * (in - 1) / (out - 1);
  if (way.centers) return (at + 0.5) * in / out - 0.5;
  return at * in / out;
}

static double rounded(double place, Rounding rounding) {
  const double below = std::floor(place);
  const bool is_half = place - below == 0.5, below_is_even = std::fmod(below, 2) == 0;
  switch (rounding) {
    case MPSGraphResizeNearestRoundingModeCeil: return std::ceil(place);
    case MPSGraphResizeNearestRoundingModeFloor: return below;
    case MPSGraphResizeNearestRoundingModeRoundPreferFloor: return is_half ? below : std::floor(place + 0.5);
    case MPSGraphResizeNearestRoundingModeRoundToEven:
      return is_half ? (below_is_even ? below : below + 1) : std::floor(place + 0.5);
    case MPSGraphResizeNearestRoundingModeRoundToOdd:
      return is_half ? (below_is_even ? below + 1 : below) : std::floor(place + 0.5);
    default: return std::floor(place + 0.5);
  }
}

// Row d: what each element of the source gives to element d of the result.
static Array matrix_of(const Axis& axis, const Way& way) {
  Array matrix({axis.out, axis.in});
  const auto last = static_cast<double>(axis.in - 1);
  for (long d = 0; d < axis.out; ++d) {
    const double place = place_of(axis, way, d);
    if (!way.is_bilinear) {
      matrix.at({d, static_cast<long>(std::clamp(rounded(place, way.rounding), 0.0, last))}) = 1;
      continue;
    }
    const double inside = std::clamp(place, 0.0, last), below = std::floor(inside);
    matrix.at({d, static_cast<long>(below)}) += 1 - (inside - below);
    matrix.at({d, std::min(static_cast<long>(below) + 1, axis.in - 1)}) += inside - below;
  }
  return matrix;
}

// The matrices of two axes applied to the source, or their adjoints to a gradient.
static Array applied(const Array& x, size_t y_axis, const Array& my, size_t x_axis, const Array& mx, bool is_adjoint) {
  Shape shape = x.shape;
  shape.at(y_axis) = my.shape.at(is_adjoint ? 1 : 0);
  shape.at(x_axis) = mx.shape.at(is_adjoint ? 1 : 0);
  Array result(shape);
  for_each_index(shape, [&](const Index& i) {
    for_each_index({x.shape.at(y_axis), x.shape.at(x_axis)}, [&](const Index& k) {
      Index from = i;
      from.at(y_axis) = k.at(0);
      from.at(x_axis) = k.at(1);
      const double wy = is_adjoint ? my.at({k.at(0), i.at(y_axis)}) : my.at({i.at(y_axis), k.at(0)});
      const double wx = is_adjoint ? mx.at({k.at(1), i.at(x_axis)}) : mx.at({i.at(x_axis), k.at(1)});
      result.at(i) += wy * wx * x.at(from);
    });
  });
  return result;
}

struct Placed {
  Layout layout;
  Shape outer;  // the extents that stay, in order; 0 for height and width
};

static const Placed kLayouts[] = {{MPSGraphTensorNamedDataLayoutNHWC, {2, 0, 0, 3}},
                                  {MPSGraphTensorNamedDataLayoutNCHW, {2, 3, 0, 0}},
                                  {MPSGraphTensorNamedDataLayoutCHW, {3, 0, 0}},
                                  {MPSGraphTensorNamedDataLayoutHWC, {0, 0, 3}},
                                  {MPSGraphTensorNamedDataLayoutHW, {0, 0}}};

// One source, what it becomes, and how a gradient comes back.
struct Values {
  Shape source_shape, result_shape;
  size_t y_axis, x_axis;
  Array x, dy, y, dx;

  Values(const Placed& placed, const Axis& ay, const Axis& ax, const Way& way) {
    y_axis = static_cast<size_t>(std::find(placed.outer.begin(), placed.outer.end(), 0) - placed.outer.begin());
    x_axis = y_axis + 1;
    source_shape = result_shape = placed.outer;
    source_shape.at(y_axis) = ay.in;
    source_shape.at(x_axis) = ax.in;
    result_shape.at(y_axis) = ay.out;
    result_shape.at(x_axis) = ax.out;
    x = random_array(source_shape);
    dy = random_array(result_shape);
    const Array my = matrix_of(ay, way), mx = matrix_of(ax, way);
    y = applied(x, y_axis, my, x_axis, mx, false);
    dx = applied(dy, y_axis, my, x_axis, mx, true);
  }
};

static MPSGraphTensor* vector(MPSGraph* g, const std::vector<double>& values, MPSDataType type) {
  return constant(g, Array({static_cast<long>(values.size())}, values, type));
}

static MPSGraphTensor* size_of(MPSGraph* g, const Axis& ay, const Axis& ax) {
  return vector(g, {static_cast<double>(ay.out), static_cast<double>(ax.out)}, MPSDataTypeInt32);
}

// By the selectors that are told the mode by their name.
static MPSGraphTensor* resized(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* size, Layout layout, const Way& way) {
  const BOOL center = way.centers, align = way.aligns;
  if (way.is_bilinear) {
    return [g resizeBilinearWithTensor:x sizeTensor:size centerResult:center alignCorners:align layout:layout name:nil];
  }
  return [g resizeNearestWithTensor:x
                         sizeTensor:size
                nearestRoundingMode:way.rounding
                       centerResult:center
                       alignCorners:align
                             layout:layout
                               name:nil];
}

static MPSGraphTensor* gradient_of(MPSGraph* g, MPSGraphTensor* dy, MPSGraphTensor* x, Layout layout, const Way& way) {
  const BOOL center = way.centers, align = way.aligns;
  if (way.is_bilinear) {
    return [g resizeBilinearWithGradientTensor:dy
                                         input:x
                                  centerResult:center
                                  alignCorners:align
                                        layout:layout
                                          name:nil];
  }
  return [g resizeNearestWithGradientTensor:dy
                                      input:x
                        nearestRoundingMode:way.rounding
                               centerResult:center
                               alignCorners:align
                                     layout:layout
                                       name:nil];
}

static void check_flags(const Placed& placed, const Axis& ay, const Axis& ax, const Way& way) {
  const Values v(placed, ay, ax, way);
  const Layout layout = placed.layout;
  const BOOL center = way.centers, align = way.aligns;
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(v.x), *dy = session.feed(v.dy), *size = size_of(g, ay, ax);
  std::vector<MPSGraphTensor*> results = {resized(g, x, size, layout, way)};
  std::vector<MPSGraphTensor*> gradients = {gradient_of(g, dy, x, layout, way)};
  if (way.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil) {
    const MPSGraphResizeMode mode = way.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest;
    results.push_back([g resizeTensor:x
                                 size:numbers({ay.out, ax.out})
                                 mode:mode
                         centerResult:center
                         alignCorners:align
                               layout:layout
                                 name:nil]);
    results.push_back([g resizeTensor:x
                           sizeTensor:size
                                 mode:mode
                         centerResult:center
                         alignCorners:align
                               layout:layout
                                 name:nil]);
    gradients.push_back([g resizeWithGradientTensor:dy
                                              input:x
                                               mode:mode
                                       centerResult:center
                                       alignCorners:align
                                             layout:layout
                                               name:nil]);
  }
  for (MPSGraphTensor* y : results) CHECK_ARRAY(session.run(y), v.y);
  for (MPSGraphTensor* dx : gradients) CHECK_ARRAY(session.run(dx), v.dx);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return resized(graph, t.at(0), size_of(graph, ay, ax), layout, way);
  };
  CHECK_ARRAY(Differentiated(build, {v.x}, v.dy).gradients.at(0), v.dx);
}

static void check_scales(const Placed& placed, const Axis& ay, const Axis& ax, const Way& way) {
  const Values v(placed, ay, ax, way);
  const Layout layout = placed.layout;
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(v.x), *dy = session.feed(v.dy), *size = size_of(g, ay, ax),
                 *scales = vector(g, {ay.scale, ax.scale, ay.offset, ax.offset}, MPSDataTypeFloat32);
  std::vector<MPSGraphTensor*> results, gradients;
  if (way.is_bilinear) {
    results.push_back([g resizeBilinearWithTensor:x sizeTensor:size scaleOffsetTensor:scales layout:layout name:nil]);
    gradients.push_back([g resizeBilinearWithGradientTensor:dy
                                                      input:x
                                          scaleOffsetTensor:scales
                                                     layout:layout
                                                       name:nil]);
  } else {
    results.push_back([g resizeNearestWithTensor:x
                                      sizeTensor:size
                               scaleOffsetTensor:scales
                             nearestRoundingMode:way.rounding
                                          layout:layout
                                            name:nil]);
    gradients.push_back([g resizeNearestWithGradientTensor:dy
                                                     input:x
                                         scaleOffsetTensor:scales
                                       nearestRoundingMode:way.rounding
                                                    layout:layout
                                                      name:nil]);
  }
  if (way.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil) {
    const MPSGraphResizeMode mode = way.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest;
    results.push_back([g resizeTensor:x sizeTensor:size scaleOffsetTensor:scales mode:mode layout:layout name:nil]);
    gradients.push_back([g resizeWithGradientTensor:dy
                                              input:x
                                  scaleOffsetTensor:scales
                                               mode:mode
                                             layout:layout
                                               name:nil]);
  }
  for (MPSGraphTensor* y : results) CHECK_ARRAY(session.run(y), v.y);
  for (MPSGraphTensor* dx : gradients) CHECK_ARRAY(session.run(dx), v.dx);
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
// The forms of macOS 14: a number for each axis of an NHWC tensor.
struct EveryAxis {
  Values v;
  Way way;
  Session session = {};
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(v.x), *dy = session.feed(v.dy);
  MPSGraphTensor* size =
      constant(g, Array({4}, std::vector<double>(v.result_shape.begin(), v.result_shape.end()), MPSDataTypeInt32));
  MPSGraphResizeMode mode = way.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest;
  bool is_default = way.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil;

  void expect_result(MPSGraphTensor* y) { CHECK_ARRAY(session.run(y), v.y); }
  void expect_gradient(MPSGraphTensor* dx) { CHECK_ARRAY(session.run(dx), v.dx); }

  void check_flags() {
    const BOOL center = way.centers, align = way.aligns;
    expect_result(way.is_bilinear ? [g resizeBilinearWithTensor:x
                                                     sizeTensor:size
                                                   centerResult:center
                                                   alignCorners:align
                                                           name:nil]
                                  : [g resizeNearestWithTensor:x
                                                    sizeTensor:size
                                           nearestRoundingMode:way.rounding
                                                  centerResult:center
                                                  alignCorners:align
                                                          name:nil]);
    if (!is_default) return;
    expect_result([g resizeTensor:x sizeTensor:size mode:mode centerResult:center alignCorners:align name:nil]);
  }

  void check_scales(const Axis& ay, const Axis& ax) {
    MPSGraphTensor *scale = constant(g, Array({4}, {1, ay.scale, ax.scale, 1})),
                   *offset = constant(g, Array({4}, {0, ay.offset, ax.offset, 0}));
    expect_result(way.is_bilinear ? [g resizeBilinearWithTensor:x
                                                     sizeTensor:size
                                                    scaleTensor:scale
                                                   offsetTensor:offset
                                                           name:nil]
                                  : [g resizeNearestWithTensor:x
                                                    sizeTensor:size
                                                   scaleTensor:scale
                                                  offsetTensor:offset
                                           nearestRoundingMode:way.rounding
                                                          name:nil]);
    expect_gradient(way.is_bilinear ? [g resizeBilinearWithGradientTensor:dy
                                                                    input:x
                                                              scaleTensor:scale
                                                             offsetTensor:offset
                                                                     name:nil]
                                    : [g resizeNearestWithGradientTensor:dy
                                                                   input:x
                                                             scaleTensor:scale
                                                            offsetTensor:offset
                                                     nearestRoundingMode:way.rounding
                                                                    name:nil]);
    if (!is_default) return;
    expect_result([g resizeTensor:x sizeTensor:size scaleTensor:scale offsetTensor:offset mode:mode name:nil]);
    expect_gradient([g resizeWithGradientTensor:dy input:x scaleTensor:scale offsetTensor:offset mode:mode name:nil]);
  }
};

static void check_every_axis(const Axis& ay, const Axis& ax, const Way& way) {
  EveryAxis every{Values(kLayouts[0], ay, ax, way), way};
  if (ay.scale == 0) every.check_flags();
  else every.check_scales(ay, ax);
}
#endif

// Bilinear, and nearest by every rounding.
static std::vector<Way> ways() {
  std::vector<Way> all;
  for (auto [centers, aligns] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    all.push_back({true, MPSGraphResizeNearestRoundingModeRoundPreferCeil, centers, aligns});
    for (Rounding rounding :
         {MPSGraphResizeNearestRoundingModeRoundPreferCeil, MPSGraphResizeNearestRoundingModeRoundPreferFloor,
          MPSGraphResizeNearestRoundingModeCeil, MPSGraphResizeNearestRoundingModeFloor,
          MPSGraphResizeNearestRoundingModeRoundToEven, MPSGraphResizeNearestRoundingModeRoundToOdd}) {
      all.push_back({false, rounding, centers, aligns});
    }
  }
  return all;
}

int main() {
  @autoreleasepool {
#ifndef __APPLE__
    const bool has_newer =
        [MPSGraph instancesRespondToSelector:@selector(resizeTensor:sizeTensor:mode:centerResult:alignCorners:name:)];
#endif
    // Places between elements are halves, so that every rounding shows: 4 to 8 and 6 to 4; then thirds.
    const std::pair<Axis, Axis> sizes[] = {{{4, 8}, {6, 4}}, {{5, 3}, {3, 7}}};
    const Axis tall{4, 6, 2, 1}, narrow{6, 3, 0.5, -0.25};
    for (const Way& way : ways()) {
      @autoreleasepool {
        for (const auto& [ay, ax] : sizes) {
          for (const Placed& placed : kLayouts) check_flags(placed, ay, ax, way);
#ifndef __APPLE__
          if (has_newer) check_every_axis(ay, ax, way);
#endif
        }
        if (way.centers || way.aligns) continue;
        for (const Placed& placed : kLayouts) check_scales(placed, tall, narrow, way);
#ifndef __APPLE__
        if (has_newer) check_every_axis(tall, narrow, way);
#endif
      }
    }
  }
  return check::summary();
}
