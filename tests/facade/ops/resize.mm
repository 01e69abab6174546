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

struct Mapping {
  bool is_bilinear;
  Rounding rounding = MPSGraphResizeNearestRoundingModeRoundPreferCeil;
  bool centers = false, aligns = false;
};

static double place_of(const Axis& axis, const Mapping& how, long d) {
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out), at = static_cast<double>(d);
  if (axis.scale != 0) return (at - axis.offset) / axis.scale;
  if (how.aligns) return at * (in - 1) / (out - 1);
  if (how.centers) return (at + 0.5) * in / out - 0.5;
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
static Array matrix_of(const Axis& axis, const Mapping& how) {
  Array matrix({axis.out, axis.in});
  const auto last = static_cast<double>(axis.in - 1);
  for (long d = 0; d < axis.out; ++d) {
    const double place = place_of(axis, how, d);
    if (!how.is_bilinear) {
      matrix.at({d, static_cast<long>(std::clamp(rounded(place, how.rounding), 0.0, last))}) = 1;
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

  Values(const Placed& placed, const Axis& ay, const Axis& ax, const Mapping& how) {
    y_axis = static_cast<size_t>(std::find(placed.outer.begin(), placed.outer.end(), 0) - placed.outer.begin());
    x_axis = y_axis + 1;
    source_shape = result_shape = placed.outer;
    source_shape.at(y_axis) = ay.in;
    source_shape.at(x_axis) = ax.in;
    result_shape.at(y_axis) = ay.out;
    result_shape.at(x_axis) = ax.out;
    x = random_array(source_shape);
    dy = random_array(result_shape);
    const Array my = matrix_of(ay, how), mx = matrix_of(ax, how);
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

// The tensors that selectors make of an image, and of a gradient, where the mapping rounds as MPSGraphResizeMode does.
struct Check {
  Values v;
  Layout layout;
  Mapping how;
  Session session = {};
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(v.x), *dy = session.feed(v.dy);
  MPSGraphResizeMode mode = how.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest;
  bool is_default = how.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil;
  // The forms of macOS 14 have a number for each axis of an NHWC tensor.
  bool has_newer = layout == MPSGraphTensorNamedDataLayoutNHWC &&
                   [MPSGraph instancesRespondToSelector:NSSelectorFromString(
                                                            @"resizeTensor:sizeTensor:mode:centerResult:alignCorners:"
                                                            @"name:")];

  void results(const Tensors& tensors) {
    for (MPSGraphTensor* y : tensors) CHECK_ARRAY(session.run(y), v.y);
  }
  void gradients(const Tensors& tensors) {
    for (MPSGraphTensor* dx : tensors) CHECK_ARRAY(session.run(dx), v.dx);
  }

  void by_flags(const Axis& ay, const Axis& ax) {
    const BOOL center = how.centers, align = how.aligns;
    MPSGraphTensor* size = size_of(g, ay, ax);
    if (how.is_bilinear) {
      results({[g resizeBilinearWithTensor:x
                                sizeTensor:size
                              centerResult:center
                              alignCorners:align
                                    layout:layout
                                      name:nil]});
      gradients({[g resizeBilinearWithGradientTensor:dy
                                               input:x
                                        centerResult:center
                                        alignCorners:align
                                              layout:layout
                                                name:nil]});
    } else {
      results({[g resizeNearestWithTensor:x
                               sizeTensor:size
                      nearestRoundingMode:how.rounding
                             centerResult:center
                             alignCorners:align
                                   layout:layout
                                     name:nil]});
      gradients({[g resizeNearestWithGradientTensor:dy
                                              input:x
                                nearestRoundingMode:how.rounding
                                       centerResult:center
                                       alignCorners:align
                                             layout:layout
                                               name:nil]});
    }
#ifndef __APPLE__  // declared by SDKs from macOS 14 on
    MPSGraphTensor* sizes = integers(g, v.result_shape);
    if (has_newer && how.is_bilinear) {
      results({[g resizeBilinearWithTensor:x sizeTensor:sizes centerResult:center alignCorners:align name:nil]});
    } else if (has_newer) {
      results({[g resizeNearestWithTensor:x
                               sizeTensor:sizes
                      nearestRoundingMode:how.rounding
                             centerResult:center
                             alignCorners:align
                                     name:nil]});
    }
    if (has_newer && is_default) {
      results({[g resizeTensor:x sizeTensor:sizes mode:mode centerResult:center alignCorners:align name:nil]});
    }
#endif
    if (!is_default) return;
    results({[g resizeTensor:x
                         size:numbers({ay.out, ax.out})
                         mode:mode
                 centerResult:center
                 alignCorners:align
                       layout:layout
                         name:nil],
             [g resizeTensor:x
                   sizeTensor:size
                         mode:mode
                 centerResult:center
                 alignCorners:align
                       layout:layout
                         name:nil]});
    gradients({[g resizeWithGradientTensor:dy
                                     input:x
                                      mode:mode
                              centerResult:center
                              alignCorners:align
                                    layout:layout
                                      name:nil]});
  }

  void by_scales(const Axis& ay, const Axis& ax) {
    MPSGraphTensor *size = size_of(g, ay, ax),
                   *both = vector(g, {ay.scale, ax.scale, ay.offset, ax.offset}, MPSDataTypeFloat32);
    if (how.is_bilinear) {
      results({[g resizeBilinearWithTensor:x sizeTensor:size scaleOffsetTensor:both layout:layout name:nil]});
      gradients({[g resizeBilinearWithGradientTensor:dy input:x scaleOffsetTensor:both layout:layout name:nil]});
    } else {
      results({[g resizeNearestWithTensor:x
                               sizeTensor:size
                        scaleOffsetTensor:both
                      nearestRoundingMode:how.rounding
                                   layout:layout
                                     name:nil]});
      gradients({[g resizeNearestWithGradientTensor:dy
                                              input:x
                                  scaleOffsetTensor:both
                                nearestRoundingMode:how.rounding
                                             layout:layout
                                               name:nil]});
    }
#ifndef __APPLE__  // declared by SDKs from macOS 14 on
    MPSGraphTensor *sizes = integers(g, v.result_shape), *scale = constant(g, Array({4}, {1, ay.scale, ax.scale, 1})),
                   *offset = constant(g, Array({4}, {0, ay.offset, ax.offset, 0}));
    if (has_newer && how.is_bilinear) {
      results({[g resizeBilinearWithTensor:x sizeTensor:sizes scaleTensor:scale offsetTensor:offset name:nil]});
      gradients({[g resizeBilinearWithGradientTensor:dy input:x scaleTensor:scale offsetTensor:offset name:nil]});
    } else if (has_newer) {
      results({[g resizeNearestWithTensor:x
                               sizeTensor:sizes
                              scaleTensor:scale
                             offsetTensor:offset
                      nearestRoundingMode:how.rounding
                                     name:nil]});
      gradients({[g resizeNearestWithGradientTensor:dy
                                              input:x
                                        scaleTensor:scale
                                       offsetTensor:offset
                                nearestRoundingMode:how.rounding
                                               name:nil]});
    }
    if (has_newer && is_default) {
      results({[g resizeTensor:x sizeTensor:sizes scaleTensor:scale offsetTensor:offset mode:mode name:nil]});
      gradients({[g resizeWithGradientTensor:dy input:x scaleTensor:scale offsetTensor:offset mode:mode name:nil]});
    }
#endif
    if (!is_default) return;
    results({[g resizeTensor:x sizeTensor:size scaleOffsetTensor:both mode:mode layout:layout name:nil]});
    gradients({[g resizeWithGradientTensor:dy input:x scaleOffsetTensor:both mode:mode layout:layout name:nil]});
  }
};

// ---- images sampled at places that a tensor gives ----

struct Sampled {
  bool normalizes, is_relative, aligns;
};

static MPSGraphTensor* sampled(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* at, Layout layout, const Sampled& s,
                               MPSGraphPaddingMode beyond, const Mapping& how, double constant = 0) {
  if (how.is_bilinear || how.rounding == MPSGraphResizeNearestRoundingModeRoundPreferCeil) {
    return [g sampleGridWithSourceTensor:x
                        coordinateTensor:at
                                  layout:layout
                    normalizeCoordinates:s.normalizes
                     relativeCoordinates:s.is_relative
                            alignCorners:s.aligns
                             paddingMode:beyond
                            samplingMode:how.is_bilinear ? MPSGraphResizeBilinear : MPSGraphResizeNearest
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
                   nearestRoundingMode:how.rounding
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
                     const Mapping& how, double constant) {
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
    if (!how.is_bilinear) {
      y.at(i) = element(rounded(row, how.rounding), rounded(column, how.rounding));
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

static void check_samples(const Mapping& how) {
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
          made.push_back(sampled(session.graph(), tx, tat, layout, s, beyond, how, 1.5));
        }
        const std::vector<Array> found = session.run(made);
        for (size_t k = 0; k < found.size(); ++k) {
          const double constant = kBeyond[k] == MPSGraphPaddingModeConstant ? 1.5 : 0;
          CHECK_ARRAY_WITHIN(how.is_bilinear ? 1e-5 : 0, found.at(k),
                             samples(x, at, layout, s, kBeyond[k], how, constant));
        }
      }
    }
  }
}

// Farther outside than any integer; halves and integers; a batch that each run tells.
TEST(samples_of_all_kinds) {
  constexpr Layout kNhwc = MPSGraphTensorNamedDataLayoutNHWC, kNchw = MPSGraphTensorNamedDataLayoutNCHW;
  const Sampled pixels{false, false, true}, edges{true, false, false};
  const Mapping bilinear{true}, nearest{false};
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *row = session.feed(Array({1, 1, 3, 1}, {5, 6, 7})),
                 *far = session.feed(Array({1, 1, 5, 2}, {-1e30, 0, 1e30, 0, -inf, 0, inf, 0, 2, 0}));
  for (const Mapping& how : {bilinear, nearest}) {
    CHECK_ARRAY(session.run(sampled(g, row, far, kNhwc, pixels, MPSGraphPaddingModeConstant, how, 9)),
                Array({1, 1, 5, 1}, {9, 9, 9, 9, 7}));
    CHECK_ARRAY(session.run(sampled(g, row, far, kNhwc, pixels, MPSGraphPaddingModeClampToEdge, how)),
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

#ifndef __APPLE__
// What is wrong, and what no document says.
TEST(samples_that_are_refused) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(random_array({2, 3, 4, 5})), *at = session.feed(random_array({2, 6, 7, 2}));
  const Sampled edges{true, false, false};
  const auto refused = [&](MPSGraphTensor* image, MPSGraphTensor* places, Layout layout, const Sampled& s,
                           MPSGraphPaddingMode beyond = MPSGraphPaddingModeZero, const Mapping& how = {true}) {
    CHECK_RAISES(sampled(g, image, places, layout, s, beyond, how));
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
static std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
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

TEST(other_sizes) {
  // Places between elements are halves, so that every rounding shows: 4 to 8 and 6 to 4; then thirds.
  const std::pair<Axis, Axis> sizes[] = {{{4, 8}, {6, 4}}, {{5, 3}, {3, 7}}};
  for (const Mapping& how : mappings()) {
    for (const auto& [ay, ax] : sizes) {
      for (const Placed& placed : kLayouts) Check{Values(placed, ay, ax, how), placed.layout, how}.by_flags(ay, ax);
    }
  }
}

TEST(scales_and_offsets) {
  const Axis tall{4, 6, 2, 1}, narrow{6, 3, 0.5, -0.25};
  for (const Mapping& how : mappings()) {
    if (how.centers || how.aligns) continue;
    for (const Placed& placed : kLayouts) {
      Check{Values(placed, tall, narrow, how), placed.layout, how}.by_scales(tall, narrow);
    }
  }
}

TEST(samples_of_every_mode) {
  for (const Mapping& how : mappings()) {
    if (!how.centers && !how.aligns) check_samples(how);
  }
}

int main(int count, char** arguments) { return check::run(count, arguments); }
