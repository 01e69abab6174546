// Pooling and stencils over the last four axes, the places of greatest elements in every mode, and the gradients from
// them, against loops.

#include "window_loops.h"

struct Case {
  Shape outer;  // axes before the last four
  std::vector<Along> axes;
  MPSGraphPaddingStyle style;
  bool rounds_up, counts_padding;
};

static const Case kCases[] = {
    {{},
     {{3, 2, 1, 1, 1, 0}, {4, 1, 2}, {5, 3, 2, 1, 0, 2}, {4, 2, 1, 2, 1, 1}},
     MPSGraphPaddingStyleExplicit,
     false,
     false},
    {{},
     {{3, 2, 1, 1, 1, 0}, {4, 1, 2}, {5, 3, 2, 1, 0, 2}, {4, 2, 1, 2, 1, 1}},
     MPSGraphPaddingStyleExplicit,
     false,
     true},
    {{2}, {{2, 1}, {3, 2, 2}, {5, 2, 1}, {4, 3, 2}}, MPSGraphPaddingStyleTF_SAME, false, false},
    {{}, {{2, 1}, {2, 1}, {6, 4}, {5, 2, 2}}, MPSGraphPaddingStyleONNX_SAME_LOWER, false, false},
    {{}, {{2, 1}, {3, 1}, {7, 3, 2}, {6, 2, 3}}, MPSGraphPaddingStyleTF_VALID, false, false},
    // the last window reaches beyond the source
    {{}, {{2, 1}, {3, 2, 2}, {6, 3, 2}, {7, 2, 3}}, MPSGraphPaddingStyleExplicit, true, false},
};

static std::vector<Along> axes_of(const Case& c) {
  std::vector<Along> axes = c.axes;
  for (Along& axis : axes) {
    if (c.style == MPSGraphPaddingStyleTF_SAME) axis = same(axis);
    if (c.style == MPSGraphPaddingStyleONNX_SAME_LOWER) axis = same(axis, true);
    axis.rounds_up = c.rounds_up;
  }
  return axes;
}

static MPSGraphPooling4DOpDescriptor* descriptor(const Case& c) {
  std::vector<long> kernel, strides, dilations, padding;
  for (const Along& axis : c.axes) {
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    padding.push_back(axis.before);
    padding.push_back(axis.after);
  }
  MPSGraphPooling4DOpDescriptor* d = [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:numbers(kernel)
                                                                                      strides:numbers(strides)
                                                                                dilationRates:numbers(dilations)
                                                                                paddingValues:numbers(padding)
                                                                                 paddingStyle:c.style];
  [d setCeilMode:c.rounds_up];
  [d setIncludeZeroPadToAverage:c.counts_padding];
  return d;
}

static Shape source_shape(const Case& c) {
  Shape shape = c.outer;
  for (const Along& axis : c.axes) shape.push_back(axis.extent);
  return shape;
}

static Shape result_shape(const Case& c) {
  Shape shape = c.outer;
  for (const Along& axis : axes_of(c)) shape.push_back(axis.windows());
  return shape;
}

// Where the first greatest element of each window is, and which of the window's it is.
struct Greatest {
  std::vector<Index> place, tap;
  std::vector<bool> is_seen;
};

static Greatest greatest_of(const Case& c, const Array& x) {
  const Array results(result_shape(c));
  Greatest g{std::vector<Index>(results.values.size()), std::vector<Index>(results.values.size()),
             std::vector<bool>(results.values.size(), false)};
  for_each_index(c.outer, [&](const Index& n) {
    for_each_seen(axes_of(c), [&](const Index& window, const Index& place, const Index& tap) {
      const size_t at = results.offset(joined(n, window));
      const Index where = joined(n, place);
      if (g.is_seen.at(at) && x.at(where) <= x.at(g.place.at(at))) return;
      g.is_seen.at(at) = true;
      g.place.at(at) = where;
      g.tap.at(at) = tap;
    });
  });
  return g;
}

static void check_maximum(const Case& c) {
  const Array x = random_array(source_shape(c), -9, -5), dy = random_array(result_shape(c));
  const Greatest best = greatest_of(c, x);
  Array y(dy.shape), dx(x.shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    y.values.at(i) = x.at(best.place.at(i));
    dx.at(best.place.at(i)) += dy.values.at(i);
  }
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphPooling4DOpDescriptor* d = descriptor(c);
  MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
  CHECK_ARRAY(session.run([g maxPooling4DWithSourceTensor:tx descriptor:d name:nil]), y);
  CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:tdy sourceTensor:tx descriptor:d name:nil]), dx);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph maxPooling4DWithSourceTensor:t.at(0) descriptor:d name:nil];
  };
  CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), dx);
}

static void check_average(const Case& c) {
  const Array x = random_array(source_shape(c)), dy = random_array(result_shape(c));
  Array y(dy.shape), dx(x.shape), seen(dy.shape);
  const auto loop = [&](auto f) {
    for_each_index(c.outer, [&](const Index& n) {
      for_each_seen(axes_of(c), [&](const Index& window, const Index& place, const Index&) {
        f(joined(n, window), joined(n, place));
      });
    });
  };
  double taps = 1;
  for (const Along& axis : c.axes) taps *= static_cast<double>(axis.kernel);
  loop([&](const Index& r, const Index&) { seen.at(r) += 1; });
  loop([&](const Index& r, const Index& s) {
    const double divisor = c.counts_padding ? taps : seen.at(r);
    y.at(r) += x.at(s) / divisor;
    dx.at(s) += dy.at(r) / divisor;
  });
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphPooling4DOpDescriptor* d = descriptor(c);
  MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
  CHECK_ARRAY(session.run([g avgPooling4DWithSourceTensor:tx descriptor:d name:nil]), y);
  CHECK_ARRAY(session.run([g avgPooling4DGradientWithGradientTensor:tdy sourceTensor:tx descriptor:d name:nil]), dx);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph avgPooling4DWithSourceTensor:t.at(0) descriptor:d name:nil];
  };
  CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), dx);

  Array norm(dy.shape), to_source(x.shape);
  loop([&](const Index& r, const Index& s) { norm.at(r) += x.at(s) * x.at(s); });
  norm = map(norm, [](double v) { return std::sqrt(v); });
  loop([&](const Index& r, const Index& s) { to_source.at(s) += dy.at(r) * x.at(s) / norm.at(r); });
  CHECK_ARRAY(session.run([g L2NormPooling4DWithSourceTensor:tx descriptor:d name:nil]), norm);
  CHECK_ARRAY(session.run([g L2NormPooling4DGradientWithGradientTensor:tdy sourceTensor:tx descriptor:d name:nil]),
              to_source);
  const Build l2 = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph L2NormPooling4DWithSourceTensor:t.at(0) descriptor:d name:nil];
  };
  CHECK_ARRAY(Differentiated(l2, {x}, dy).gradients.at(0), to_source);
}

// The root's slope at 0 is infinite; a window of zeros takes no gradient.
static void l2_of_zeros() {
  const Case c{{}, {{1, 1}, {1, 1}, {2, 2}, {4, 2, 2}}, MPSGraphPaddingStyleTF_VALID, false, false};
  Session session;
  const Array x({1, 1, 2, 4}, {0, 0, 3, 0, 0, 0, 0, 4});
  const Array dy({1, 1, 1, 2}, {7, 10});
  MPSGraphTensor* dx = [session.graph() L2NormPooling4DGradientWithGradientTensor:session.feed(dy)
                                                                     sourceTensor:session.feed(x)
                                                                       descriptor:descriptor(c)
                                                                             name:nil];
  CHECK_ARRAY(session.run(dx), Array({1, 1, 2, 4}, {0, 0, 6, 0, 0, 0, 0, 8}));
}

// ---- places ----

// An index into the last axes of a shape as one number.
static double flattened(const Index& index, const Shape& shape, size_t axes) {
  long at = 0;
  for (size_t i = shape.size() - axes; i < shape.size(); ++i) at = at * shape.at(i) + index.at(i);
  return static_cast<double>(at);
}

static const MPSGraphPoolingReturnIndicesMode kModes[] = {
    MPSGraphPoolingReturnIndicesGlobalFlatten1D, MPSGraphPoolingReturnIndicesGlobalFlatten2D,
    MPSGraphPoolingReturnIndicesGlobalFlatten3D, MPSGraphPoolingReturnIndicesGlobalFlatten4D,
    MPSGraphPoolingReturnIndicesLocalFlatten1D,  MPSGraphPoolingReturnIndicesLocalFlatten2D,
    MPSGraphPoolingReturnIndicesLocalFlatten3D,  MPSGraphPoolingReturnIndicesLocalFlatten4D};

static Array indices_of(const Case& c, const Greatest& best, MPSGraphPoolingReturnIndicesMode mode) {
  const bool is_local = mode >= MPSGraphPoolingReturnIndicesLocalFlatten1D;
  const size_t axes = is_local ? mode - MPSGraphPoolingReturnIndicesGlobalFlatten4D : mode;
  Shape window;
  for (const Along& axis : c.axes) window.push_back(axis.kernel);
  Array indices(result_shape(c), 0, MPSDataTypeInt32);
  for (size_t i = 0; i < indices.values.size(); ++i) {
    indices.values.at(i) =
        is_local ? flattened(best.tap.at(i), window, axes) : flattened(best.place.at(i), source_shape(c), axes);
  }
  return indices;
}

static void check_indices(const Case& c) {
  const Array x = random_array(source_shape(c), -9, -5), dy = random_array(result_shape(c));
  const Greatest best = greatest_of(c, x);
  Array y(dy.shape), dx(x.shape);
  for (size_t i = 0; i < y.values.size(); ++i) {
    y.values.at(i) = x.at(best.place.at(i));
    dx.at(best.place.at(i)) += dy.values.at(i);
  }
  for (MPSGraphPoolingReturnIndicesMode mode : kModes) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphPooling4DOpDescriptor* d = descriptor(c);
    [d setReturnIndicesMode:mode];
    MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
    NSArray* both = [g maxPooling4DReturnIndicesWithSourceTensor:tx descriptor:d name:nil];
    CHECK([both count] == 2);
    CHECK_ARRAY(session.run([both objectAtIndex:0]), y);
    CHECK_ARRAY(session.run([both objectAtIndex:1]), indices_of(c, best, mode));
    const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
      return static_cast<MPSGraphTensor*>([[graph maxPooling4DReturnIndicesWithSourceTensor:t.at(0)
                                                                                 descriptor:d
                                                                                       name:nil] objectAtIndex:0]);
    };
    CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), dx);
    // Back from the indices alone, where they tell all axes that windows move along.
    const bool is_local = mode >= MPSGraphPoolingReturnIndicesLocalFlatten1D;
    const size_t told = is_local ? mode - MPSGraphPoolingReturnIndicesGlobalFlatten4D : mode;
    bool is_complete = true;
    for (size_t i = 0; i + told < 4; ++i) is_complete = is_complete && c.axes.at(i).windows() == c.axes.at(i).extent;
    for (size_t i = 0; i + told < 4; ++i) is_complete = is_complete && c.axes.at(i).kernel == 1;
    if (!is_complete) continue;
    MPSGraphTensor* indices = [both objectAtIndex:1];
    CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:tdy
                                                        indicesTensor:indices
                                                          outputShape:numbers(x.shape)
                                                           descriptor:d
                                                                 name:nil]),
                dx);
    CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:tdy
                                                        indicesTensor:indices
                                                    outputShapeTensor:shape_constant(g, x.shape)
                                                           descriptor:d
                                                                 name:nil]),
                dx);
  }
}

// Windows over height and width: of NCHW and NHWC, and of one image without its batch.
static void check_images(MPSGraphTensorNamedDataLayout layout, bool has_batch, MPSGraphPaddingStyle style) {
  const bool first = layout == MPSGraphTensorNamedDataLayoutNCHW;
  const bool is_same = style == MPSGraphPaddingStyleTF_SAME;
  // One row more, or rounding up, would make another window; for "same" a higher window begins elsewhere.
  const Along y = is_same ? Along{6, 3, 2} : Along{7, 3, 2, 1, 1, 0},
              x = is_same ? Along{5, 2, 1, 2} : Along{5, 2, 1, 2, 0, 1};
  const Along batch{has_batch ? 2 : 1, 1}, channels{3, 1};
  const Case c{{},
               first ? std::vector<Along>{batch, channels, y, x} : std::vector<Along>{batch, y, x, channels},
               style,
               false,
               false};
  const auto as_image = [&](Array a) {
    if (!has_batch) a.shape.erase(a.shape.begin());
    return a;
  };
  const Array source = random_array(source_shape(c), -9, -5), dy = random_array(result_shape(c));
  const Greatest best = greatest_of(c, source);
  Array values(dy.shape), dx(source.shape);
  for (size_t i = 0; i < values.values.size(); ++i) {
    values.values.at(i) = source.at(best.place.at(i));
    dx.at(best.place.at(i)) += dy.values.at(i);
  }
  for (MPSGraphPoolingReturnIndicesMode mode : kModes) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphPooling2DOpDescriptor* d = [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:unsign(x.kernel)
                                                                                   kernelHeight:unsign(y.kernel)
                                                                                      strideInX:unsign(x.stride)
                                                                                      strideInY:unsign(y.stride)
                                                                                dilationRateInX:unsign(x.dilation)
                                                                                dilationRateInY:unsign(y.dilation)
                                                                                    paddingLeft:unsign(x.before)
                                                                                   paddingRight:unsign(x.after)
                                                                                     paddingTop:unsign(y.before)
                                                                                  paddingBottom:unsign(y.after)
                                                                                   paddingStyle:c.style
                                                                                     dataLayout:layout];
    [d setReturnIndicesMode:mode];
    MPSGraphTensor *tx = session.feed(as_image(source)), *tdy = session.feed(as_image(dy));
    NSArray* both = [g maxPooling2DReturnIndicesWithSourceTensor:tx descriptor:d name:nil];
    CHECK_ARRAY(session.run([both objectAtIndex:0]), as_image(values));
    CHECK_ARRAY(session.run([both objectAtIndex:1]), as_image(indices_of(c, best, mode)));
    // Over the last two axes an NHWC image's rows are not told, over three they are.
    const bool is_local = mode >= MPSGraphPoolingReturnIndicesLocalFlatten1D;
    const size_t told = is_local ? mode - MPSGraphPoolingReturnIndicesGlobalFlatten4D : mode;
    if (told < (first ? 2u : 3u)) continue;
    const Shape shape = as_image(source).shape;
    CHECK_ARRAY(session.run([g maxPooling2DGradientWithGradientTensor:tdy
                                                        indicesTensor:[both objectAtIndex:1]
                                                          outputShape:numbers(shape)
                                                           descriptor:d
                                                                 name:nil]),
                as_image(dx));
    CHECK_ARRAY(session.run([g maxPooling2DGradientWithGradientTensor:tdy
                                                        indicesTensor:[both objectAtIndex:1]
                                                    outputShapeTensor:shape_constant(g, shape)
                                                           descriptor:d
                                                                 name:nil]),
                as_image(dx));
  }
}

#ifndef __APPLE__
static void what_indices_cannot_tell() {
  Session session;
  MPSGraph* g = session.graph();
  const Case& c = kCases[0];
  MPSGraphTensor *x = placeholder(g, source_shape(c)), *dy = placeholder(g, result_shape(c)),
                 *indices = placeholder(g, result_shape(c), MPSDataTypeInt32);
  MPSGraphPooling4DOpDescriptor* d = descriptor(c);
  CHECK_RAISES([g maxPooling4DReturnIndicesWithSourceTensor:x descriptor:d name:nil]);  // the mode is None
  [d setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
  CHECK_RAISES([g maxPooling4DGradientWithGradientTensor:dy
                                           indicesTensor:indices
                                             outputShape:numbers(source_shape(c))
                                              descriptor:d
                                                    name:nil]);
  CHECK_RAISES([d setReturnIndicesDataType:MPSDataTypeInt64]);
  CHECK_RAISES([d setKernelSizes:numbers({1, 2, 0, 1})]);
  CHECK_RAISES([d setPaddingValues:numbers({1, 2, 0, 1})]);
}
#endif

static void descriptors_hold_their_fields() {
  MPSGraphPooling4DOpDescriptor* d =
      [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:numbers({1, 2, 3, 4})
                                                       strides:numbers({5, 6, 7, 8})
                                                 dilationRates:numbers({9, 10, 11, 12})
                                                 paddingValues:numbers({13, 14, 15, 16, 17, 18, 19, 20})
                                                  paddingStyle:MPSGraphPaddingStyleTF_SAME];
  CHECK([d ceilMode] == NO && [d includeZeroPadToAverage] == NO);
  CHECK([d returnIndicesMode] == MPSGraphPoolingReturnIndicesNone && [d returnIndicesDataType] == MPSDataTypeInt32);
  [d setCeilMode:YES];
  [d setIncludeZeroPadToAverage:YES];
  [d setReturnIndicesMode:MPSGraphPoolingReturnIndicesLocalFlatten3D];
  [d setReturnIndicesDataType:MPSDataTypeInt32];
  MPSGraphPooling4DOpDescriptor* copy = [[d copy] autorelease];
  [d setKernelSizes:numbers({2, 2, 2, 2})];
  CHECK([[d kernelSizes] isEqual:numbers({2, 2, 2, 2})] && [[copy kernelSizes] isEqual:numbers({1, 2, 3, 4})]);
  CHECK([[copy strides] isEqual:numbers({5, 6, 7, 8})] && [[copy dilationRates] isEqual:numbers({9, 10, 11, 12})]);
  CHECK([[copy paddingValues] isEqual:numbers({13, 14, 15, 16, 17, 18, 19, 20})]);
  CHECK([copy paddingStyle] == MPSGraphPaddingStyleTF_SAME && [copy ceilMode] && [copy includeZeroPadToAverage]);
  CHECK([copy returnIndicesMode] == MPSGraphPoolingReturnIndicesLocalFlatten3D);
  MPSGraphPooling4DOpDescriptor* bare =
      [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:numbers({1, 2, 3, 4})
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID];
  CHECK([[bare strides] isEqual:numbers({1, 1, 1, 1})] && [[bare dilationRates] isEqual:numbers({1, 1, 1, 1})]);
  CHECK([[bare paddingValues] isEqual:numbers({0, 0, 0, 0, 0, 0, 0, 0})]);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleTF_VALID);
  [bare setStrides:numbers({2, 3, 4, 5})];
  [bare setDilationRates:numbers({3, 4, 5, 6})];
  [bare setPaddingValues:numbers({1, 0, 2, 0, 3, 0, 4, 0})];
  [bare setPaddingStyle:MPSGraphPaddingStyleExplicit];
  CHECK([[bare strides] isEqual:numbers({2, 3, 4, 5})] && [[bare dilationRates] isEqual:numbers({3, 4, 5, 6})]);
  CHECK([[bare paddingValues] isEqual:numbers({1, 0, 2, 0, 3, 0, 4, 0})]);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  MPSGraphPooling2DOpDescriptor* flat =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:3
                                                     strideInX:1
                                                     strideInY:1
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  CHECK([flat returnIndicesMode] == MPSGraphPoolingReturnIndicesNone &&
        [flat returnIndicesDataType] == MPSDataTypeInt32);
  [flat setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
  [flat setReturnIndicesDataType:MPSDataTypeInt32];
  CHECK([[[flat copy] autorelease] returnIndicesMode] == MPSGraphPoolingReturnIndicesGlobalFlatten2D);
}

// ---- stencils ----

// The element that a mode puts at places in and around the last four axes.
static double continued(const Array& x, Index at, MPSGraphPaddingMode mode, double constant) {
  double sign = 1;
  for (size_t axis = at.size() - 4; axis < at.size(); ++axis) {
    const long n = x.shape.at(axis);
    long& i = at.at(axis);
    if (i >= 0 && i < n) continue;
    switch (mode) {
      case MPSGraphPaddingModeZero: return 0;
      case MPSGraphPaddingModeConstant: return constant;
      case MPSGraphPaddingModeClampToEdge: i = i < 0 ? 0 : n - 1; break;
      case MPSGraphPaddingModeReflect: i = i < 0 ? -i : 2 * (n - 1) - i; break;
      case MPSGraphPaddingModeSymmetric: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
      default: i += i < 0 ? n : -n; sign = mode == MPSGraphPaddingModeAntiPeriodic ? -sign : sign;
    }
  }
  return sign * x.at(at);
}

static Array stenciled(const Case& c, const Array& x, const Array& weights, MPSGraphReductionMode reduction,
                       MPSGraphPaddingMode mode, double constant) {
  const std::vector<Along> axes = axes_of(c);
  Array y(result_shape(c));
  for_each_index(y.shape, [&](const Index& i) {
    bool is_first = true;
    for_each_index(weights.shape, [&](const Index& tap) {
      Index at = i;
      for (size_t k = 0; k < 4; ++k) {
        const size_t axis = c.outer.size() + k;
        at.at(axis) = axes.at(k).place(i.at(axis), tap.at(k));
      }
      const double value = continued(x, at, mode, constant) * weights.at(tap);
      double& total = y.at(i);
      if (is_first) total = value;
      else if (reduction == MPSGraphReductionModeMin) total = std::min(total, value);
      else if (reduction == MPSGraphReductionModeMax) total = std::max(total, value);
      else if (reduction == MPSGraphReductionModeSum) total += value;
      else total *= value;
      is_first = false;
    });
  });
  return y;
}

static MPSGraphStencilOpDescriptor* stencil_of(const Case& c, MPSGraphReductionMode reduction, MPSGraphPaddingMode mode,
                                               float constant) {
  MPSGraphPooling4DOpDescriptor* d = descriptor(c);
  return [MPSGraphStencilOpDescriptor descriptorWithReductionMode:reduction
                                                          offsets:numbers({0, 0, 0, 0})
                                                          strides:[d strides]
                                                    dilationRates:[d dilationRates]
                                                  explicitPadding:[d paddingValues]
                                                     boundaryMode:mode
                                                     paddingStyle:c.style
                                                  paddingConstant:constant];
}

static void check_stencil(const Case& c) {
  Shape kernel;
  for (const Along& axis : c.axes) kernel.push_back(axis.kernel);
  const Array x = distinct_array(source_shape(c)), w = signed_array(kernel);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(x), *tw = session.feed(w);
  const auto check = [&](MPSGraphReductionMode reduction, MPSGraphPaddingMode mode) {
    MPSGraphStencilOpDescriptor* d = stencil_of(c, reduction, mode, 1.5F);
    CHECK_ARRAY(session.run([g stencilWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
                stenciled(c, x, w, reduction, mode, 1.5));
  };
  for (auto reduction : {MPSGraphReductionModeMin, MPSGraphReductionModeMax, MPSGraphReductionModeProduct}) {
    check(reduction, MPSGraphPaddingModeConstant);
  }
  for (auto mode : {MPSGraphPaddingModeConstant, MPSGraphPaddingModeReflect, MPSGraphPaddingModeSymmetric,
                    MPSGraphPaddingModeClampToEdge, MPSGraphPaddingModeZero}) {
    check(MPSGraphReductionModeSum, mode);
  }
#ifndef __APPLE__  // which refuses to pad so
  check(MPSGraphReductionModeSum, MPSGraphPaddingModePeriodic);
  check(MPSGraphReductionModeSum, MPSGraphPaddingModeAntiPeriodic);
#endif
}

static void stencils_of_all_kinds() {
  const Case& c = kCases[0];
  const Array x = eighths(random_array(source_shape(c))), w = eighths(signed_array({2, 1, 3, 2}));
  const auto made_by = [](MPSGraphStencilOpDescriptor* d) -> Build {
    return [=](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g stencilWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
    };
  };
  const Build sum = made_by(stencil_of(c, MPSGraphReductionModeSum, MPSGraphPaddingModeReflect, 0)),
              product = made_by(stencil_of(c, MPSGraphReductionModeProduct, MPSGraphPaddingModeConstant, 1));
  MPSGraphStencilOpDescriptor* greatest = stencil_of(c, MPSGraphReductionModeMax, MPSGraphPaddingModeZero, 0);
  CHECK_HALVES(sum, {x, w}, stenciled(c, x, w, MPSGraphReductionModeSum, MPSGraphPaddingModeReflect, 0));
  CHECK_GRADIENTS(sum, {x, w});
  CHECK_GRADIENTS(product, {signed_array(x.shape, 0.75, 1.25), signed_array(w.shape, 0.75, 1.25)});
  CHECK_GRADIENTS(
      [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g stencilWithSourceTensor:t.at(0) weightsTensor:constant(g, w) descriptor:greatest name:nil];
      },
      {distinct_array(x.shape)});
  Session session;
  MPSGraphStencilOpDescriptor* d =
      [MPSGraphStencilOpDescriptor descriptorWithPaddingStyle:MPSGraphPaddingStyleTF_VALID];
  CHECK_ARRAY(session.run([session.graph() stencilWithSourceTensor:session.feed(Array({1, 1, 1, 3}, {2, 3, 5}))
                                                     weightsTensor:session.feed(Array({1, 1, 1, 2}, {10, 1}))
                                                        descriptor:d
                                                              name:@"differences"]),
              Array({1, 1, 1, 2}, {23, 35}));
}

static void stencil_descriptors_hold_their_fields() {
  MPSGraphStencilOpDescriptor* bare = [[MPSGraphStencilOpDescriptor new] autorelease];
  CHECK([bare reductionMode] == MPSGraphReductionModeSum && [bare boundaryMode] == MPSGraphPaddingModeZero);
  CHECK([[bare strides] isEqual:numbers({1, 1, 1, 1})] && [[bare dilationRates] isEqual:numbers({1, 1, 1, 1})]);
  [bare setReductionMode:MPSGraphReductionModeMax];
  [bare setOffsets:numbers({1, -2, 3, 4})];
  [bare setStrides:numbers({2, 3, 4, 5})];
  [bare setDilationRates:numbers({3, 4, 5, 6})];
  [bare setExplicitPadding:numbers({1, 0, 2, 0, 3, 0, 4, 0})];
  [bare setBoundaryMode:MPSGraphPaddingModeReflect];
  [bare setPaddingStyle:MPSGraphPaddingStyleTF_SAME];
  [bare setPaddingConstant:2.5F];
  MPSGraphStencilOpDescriptor* copy = [[bare copy] autorelease];
  CHECK([copy reductionMode] == MPSGraphReductionModeMax && [copy boundaryMode] == MPSGraphPaddingModeReflect);
  CHECK([[copy offsets] isEqual:numbers({1, -2, 3, 4})] && [[copy strides] isEqual:numbers({2, 3, 4, 5})]);
  CHECK([[copy dilationRates] isEqual:numbers({3, 4, 5, 6})]);
  CHECK([[copy explicitPadding] isEqual:numbers({1, 0, 2, 0, 3, 0, 4, 0})]);
  CHECK([copy paddingStyle] == MPSGraphPaddingStyleTF_SAME && [copy paddingConstant] == 2.5F);
  NSArray* eight = numbers({0, 0, 0, 0, 1, 1, 2, 2});
  MPSGraphStencilOpDescriptor* around = [MPSGraphStencilOpDescriptor descriptorWithExplicitPadding:eight];
  CHECK([around paddingStyle] == MPSGraphPaddingStyleExplicit && [[around explicitPadding] isEqual:eight]);
  MPSGraphStencilOpDescriptor* moved = [MPSGraphStencilOpDescriptor descriptorWithOffsets:numbers({0, 0, 1, 1})
                                                                          explicitPadding:eight];
  CHECK([moved paddingStyle] == MPSGraphPaddingStyleExplicitOffset && [[moved explicitPadding] isEqual:eight]);
  CHECK([[moved offsets] isEqual:numbers({0, 0, 1, 1})]);
}

#ifndef __APPLE__
// What is wrong, and what no document says.
static void stencils_that_are_refused() {
  MPSGraphStencilOpDescriptor* d = [[MPSGraphStencilOpDescriptor new] autorelease];
  CHECK_RAISES([d setStrides:numbers({1, 1, 1})]);
  CHECK_RAISES([d setStrides:numbers({1, 1, 0, 1})]);
  CHECK_RAISES([d setExplicitPadding:numbers({1, 1, 1, 1})]);
  CHECK_RAISES([d setReductionMode:static_cast<MPSGraphReductionMode>(9)]);
  CHECK_RAISES([d setBoundaryMode:static_cast<MPSGraphPaddingMode>(-1)]);
  CHECK_RAISES([d setPaddingStyle:static_cast<MPSGraphPaddingStyle>(9)]);
  Session session;
  const auto refused = [&](const Array& source, const Array& weights) {
    MPSGraphTensor *x = session.feed(source), *w = session.feed(weights);
    CHECK_RAISES([session.graph() stencilWithSourceTensor:x weightsTensor:w descriptor:d name:nil]);
  };
  const Array image = random_array({1, 1, 4, 4}), window = random_array({1, 1, 2, 2});
  refused(random_array({4, 4}), window);
  refused(image, random_array({2, 2}));
  refused(image, random_array({1, 1, 9, 9}));
  refused(image, random_integers({1, 1, 2, 2}, 1, 2));
  [d setBoundaryMode:MPSGraphPaddingModeReflect];
  [d setExplicitPadding:numbers({0, 0, 0, 0, 4, 4, 4, 4})];
  refused(image, window);  // cannot be mirrored so far
  [d setExplicitPadding:numbers({0, 0, 0, 0, 0, 0, 0, 0})];
  [d setReductionMode:MPSGraphReductionModeArgumentMax];
  refused(image, window);
  [d setReductionMode:MPSGraphReductionModeSum];
  [d setPaddingStyle:MPSGraphPaddingStyleExplicitOffset];
  refused(image, window);
}
#endif

int main() {
  @autoreleasepool {
    for (const Case& c : kCases) {
      if (!c.rounds_up) check_stencil(c);
    }
    stencils_of_all_kinds();
    stencil_descriptors_hold_their_fields();
    for (const Case& c : kCases) {
      check_maximum(c);
      check_average(c);
      check_indices(c);
    }
    l2_of_zeros();
    for (auto layout : {MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutNHWC}) {
      for (auto style : {MPSGraphPaddingStyleExplicit, MPSGraphPaddingStyleTF_SAME}) {
        for (bool has_batch : {true, false}) check_images(layout, has_batch, style);
      }
    }
#ifndef __APPLE__
    what_indices_cannot_tell();
    stencils_that_are_refused();
#endif
    descriptors_hold_their_fields();
  }
  return check::summary();
}
