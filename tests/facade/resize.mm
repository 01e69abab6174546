// Images of another size by every selector, in every layout, mode and rounding, and the gradients, against matrices
// made from the definition. Images sampled at places that a tensor gives, against loops.

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

// ---- images sampled at places that a tensor gives ----

struct Sampled {
  bool normalizes, is_relative, aligns;
};

static MPSGraphTensor* sampled(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* at, Layout layout, const Sampled& s,
                               MPSGraphPaddingMode beyond, const Way& way, double constant = 0) {
  if (way.is_bilinear || way.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil) {
    return [g sampleGridWithSourceTensor:x
                        coordinateTensor:at
                                  layout:layout
                    normalizeCoordinates:s.normalizes
                     relativeCoordinates:s.is_relative
                            alignCorners:s.aligns
                             paddingMode:beyond
                            samplingMode:way.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest
                           constantValue:constant
                                    name:nil];
  }
  return [g sampleGridWithSourceTensor:x
                      coordinateTensor:at
                                layout:layout
                  normalizeCoordinates:s.normalizes
                   relativeCoordinates:s.is_relative
                          alignCorners:s.aligns
                           paddingMode:beyond
                   nearestRoundingMode:way.rounding
                         constantValue:constant
                                  name:nil];
}

// Where a coordinate of result `i` is along an axis, and where what stands for it is in the image.
static double sampled_at(double coordinate, long i, long extent, const Sampled& s, MPSGraphPaddingMode beyond) {
  const auto n = static_cast<double>(extent), last = n - 1;
  double x = coordinate;
  if (s.normalizes && s.is_relative) x *= (s.aligns ? last : n) / 2;
  else if (s.normalizes) x = s.aligns ? (x + 1) / 2 * last : ((x + 1) * n - 1) / 2;
  if (s.is_relative) x += static_cast<double>(i);
  if (beyond == MPSGraphPaddingModeConstant || beyond == MPSGraphPaddingModeZero) return x;
  const double edge = beyond == MPSGraphPaddingModeSymmetric ? 0.5 : 0;
  for (; beyond != MPSGraphPaddingModeClampToEdge && last + edge > 0 && (x < -edge || x > last + edge);) {
    x = x < -edge ? -2 * edge - x : 2 * (last + edge) - x;
  }
  return std::clamp(x, 0.0, last);
}

static Array samples(const Array& x, const Array& at, Layout layout, const Sampled& s, MPSGraphPaddingMode beyond,
                     const Way& way, double constant) {
  const size_t rows = layout == MPSGraphTensorNamedDataLayoutNHWC ? 1 : 2, columns = rows + 1;
  Shape shape = x.shape;
  shape.at(rows) = at.shape.at(1);
  shape.at(columns) = at.shape.at(2);
  Array y(shape);
  for_each_index(y.shape, [&](const Index& i) {
    const auto along = [&](size_t axis, long k) {
      return sampled_at(at.at({i.at(0), i.at(rows), i.at(columns), k}), i.at(axis), x.shape.at(axis), s, beyond);
    };
    const auto element = [&](double row, double column) {
      Index from = i;
      from.at(rows) = std::lround(row);
      from.at(columns) = std::lround(column);
      for (size_t axis : {rows, columns}) {
        if (from.at(axis) < 0 || from.at(axis) >= x.shape.at(axis)) return constant;
      }
      return x.at(from);
    };
    const double column = along(columns, 0), row = along(rows, 1);
    if (!way.is_bilinear) {
      y.at(i) = element(rounded(row, way.rounding), rounded(column, way.rounding));
      return;
    }
    const double top = std::floor(row), left = std::floor(column);
    for (const double down : {0.0, 1.0}) {
      for (const double across : {0.0, 1.0}) {
        const double weight = (1 - std::fabs(row - top - down)) * (1 - std::fabs(column - left - across));
        if (weight != 0) y.at(i) += weight * element(top + down, left + across);
      }
    }
  });
  return y;
}

static constexpr MPSGraphPaddingMode kBeyond[] = {MPSGraphPaddingModeConstant, MPSGraphPaddingModeReflect,
                                                  MPSGraphPaddingModeSymmetric, MPSGraphPaddingModeClampToEdge,
                                                  MPSGraphPaddingModeZero};

// Eighths and sixteenths, so that halves come up, inside and far outside.
static Array some_places(const Shape& shape, const Sampled& s) {
  const double far = s.normalizes ? 3 : 9;
  return map(random_array(shape, -far, far), [](double v) { return std::round(v * 8) / 8; });
}

static void check_samples(const Way& way) {
  for (const Shape& extents : {Shape{3, 5}, Shape{1, 1}, Shape{4, 1}}) {
    for (const Sampled& s : {Sampled{true, false, false},
                             {true, false, true},
                             {false, false, true},
                             {true, true, false},
                             {true, true, true},
                             {false, true, false},
                             {false, true, true}}) {
      for (const Layout layout : {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutNCHW}) {
        const long h = extents.at(0), w = extents.at(1);
        const bool channels_last = layout == MPSGraphTensorNamedDataLayoutNHWC;
        if (!channels_last && w == 1) continue;
        const Array x = random_array(channels_last ? Shape{2, h, w, 3} : Shape{2, 3, h, w});
        const Array at = some_places(s.is_relative ? Shape{2, h, w, 2} : Shape{2, 2, 7, 2}, s);
        Session session;
        MPSGraphTensor *tx = session.feed(x), *tat = session.feed(at);
        std::vector<MPSGraphTensor*> made;
        for (const MPSGraphPaddingMode beyond : kBeyond) {
          made.push_back(sampled(session.graph(), tx, tat, layout, s, beyond, way, 1.5));
        }
        const std::vector<Array> found = session.run(made);
        for (size_t k = 0; k < found.size(); ++k) {
          const double constant = kBeyond[k] == MPSGraphPaddingModeConstant ? 1.5 : 0;
          CHECK_ARRAY_WITHIN(way.is_bilinear ? 1e-5 : 0, found.at(k),
                             samples(x, at, layout, s, kBeyond[k], way, constant));
        }
      }
    }
  }
}

// Farther outside than any integer; halves and integers; a batch that each run tells.
static void samples_of_all_kinds() {
  constexpr Layout kNhwc = MPSGraphTensorNamedDataLayoutNHWC, kNchw = MPSGraphTensorNamedDataLayoutNCHW;
  const Sampled pixels{false, false, true}, edges{true, false, false};
  const Way bilinear{true}, nearest{false};
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *row = session.feed(Array({1, 1, 3, 1}, {5, 6, 7})),
                 *far = session.feed(Array({1, 1, 5, 2}, {-1e30, 0, 1e30, 0, -inf, 0, inf, 0, 2, 0}));
  for (const Way& way : {bilinear, nearest}) {
    CHECK_ARRAY(session.run(sampled(g, row, far, kNhwc, pixels, MPSGraphPaddingModeConstant, way, 9)),
                Array({1, 1, 5, 1}, {9, 9, 9, 9, 7}));
    CHECK_ARRAY(session.run(sampled(g, row, far, kNhwc, pixels, MPSGraphPaddingModeClampToEdge, way)),
                Array({1, 1, 5, 1}, {5, 7, 5, 7, 7}));
  }
  MPSGraphTensor* no_place = session.feed(Array({1, 1, 1, 2}, {nan, 0}));
  CHECK_ARRAY(session.run(sampled(g, row, no_place, kNhwc, pixels, MPSGraphPaddingModeConstant, bilinear, 9)),
              Array({1, 1, 1, 1}, 9));
  const Array x = eighths(random_array({2, 2, 3, 4})), at = some_places({2, 3, 2, 2}, edges);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return sampled(graph, t.at(0), t.at(1), kNchw, edges, MPSGraphPaddingModeReflect, bilinear);
  };
  CHECK_HALVES(build, {x, at}, samples(x, at, kNchw, edges, MPSGraphPaddingModeReflect, bilinear, 0));
  const Array whole = random_integers({2, 2, 3, 4}, -9, 9);
  Array expected = samples(whole, at, kNchw, edges, MPSGraphPaddingModeConstant, nearest, 7);
  expected.type = MPSDataTypeInt32;
  CHECK_ARRAY(session.run(sampled(g, session.feed(whole), session.feed(at), kNchw, edges, MPSGraphPaddingModeConstant,
                                  nearest, 7)),
              expected);
  MPSGraphTensor *any = placeholder(g, {-1, 2, 3, 4}), *anywhere = placeholder(g, {-1, -1, -1, 2});
  session.set(any, x);
  session.set(anywhere, at);
  CHECK_ARRAY(session.run(sampled(g, any, anywhere, kNchw, edges, MPSGraphPaddingModeZero, bilinear)),
              samples(x, at, kNchw, edges, MPSGraphPaddingModeZero, bilinear, 0));
}

// Between elements, where samples are smooth; some places are outside.
static void gradients_of_samples() {
  Array at({1, 3, 4, 2});
  for_each_index(at.shape, [&](const Index& i) {
    at.at(i) = std::floor(next_random() * 6) - 2 + 0.25 + std::floor(next_random() * 8) / 16;
  });
  for (const MPSGraphPaddingMode beyond : kBeyond) {
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return sampled(g, t.at(0), t.at(1), MPSGraphTensorNamedDataLayoutNHWC, {false, false, true}, beyond, {true}, 0.5);
    };
    CHECK_GRADIENTS(build, {random_array({1, 3, 4, 2}), at});
  }
}

#ifndef __APPLE__
// What is wrong, and what no document says.
static void samples_that_are_refused() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(random_array({2, 3, 4, 5})), *at = session.feed(random_array({2, 6, 7, 2}));
  const Sampled edges{true, false, false};
  const auto refused = [&](MPSGraphTensor* image, MPSGraphTensor* places, Layout layout, const Sampled& s,
                           MPSGraphPaddingMode beyond = MPSGraphPaddingModeZero, const Way& way = {true}) {
    CHECK_RAISES(sampled(g, image, places, layout, s, beyond, way));
  };
  constexpr Layout kNhwc = MPSGraphTensorNamedDataLayoutNHWC;
  refused(session.feed(random_array({3, 4, 5})), at, kNhwc, edges);
  refused(session.feed(random_array({1, 3, 4, 5})), at, kNhwc, edges);
  refused(placeholder(g, {2, -1, 4, 5}), at, kNhwc, edges);
  refused(session.feed(random_integers({2, 3, 4, 5}, 0, 9)), at, kNhwc, edges);
  refused(x, session.feed(random_array({2, 6, 7, 3})), kNhwc, edges);
  refused(x, session.feed(random_array({2, 7, 2})), kNhwc, edges);
  refused(x, session.feed(random_integers({2, 6, 7, 2}, 0, 1)), kNhwc, edges);
  refused(x, at, MPSGraphTensorNamedDataLayoutHWC, edges);
  refused(x, at, kNhwc, edges, MPSGraphPaddingModePeriodic);
  refused(x, at, kNhwc, edges, static_cast<MPSGraphPaddingMode>(9));
  refused(x, at, kNhwc, edges, MPSGraphPaddingModeZero, {false, static_cast<Rounding>(9)});
  refused(x, at, kNhwc, {false, false, false});  // where pixels are counted from
  refused(x, at, kNhwc, {true, true, false});    // how places in images of another size are scaled
  CHECK_RAISES([g sampleGridWithSourceTensor:x
                            coordinateTensor:at
                                      layout:kNhwc
                        normalizeCoordinates:YES
                         relativeCoordinates:NO
                                alignCorners:NO
                                 paddingMode:MPSGraphPaddingModeZero
                                samplingMode:static_cast<MPSGraphResizeMode>(9)
                               constantValue:0
                                        name:nil]);
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
        check_samples(way);
        for (const Placed& placed : kLayouts) check_scales(placed, tall, narrow, way);
#ifndef __APPLE__
        if (has_newer) check_every_axis(tall, narrow, way);
#endif
      }
    }
    samples_of_all_kinds();
    gradients_of_samples();
#ifndef __APPLE__
    samples_that_are_refused();
#endif
  }
  return check::summary();
}
