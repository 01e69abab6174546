// Poolings of every kind and their gradients against loops: padding that a style makes, windows beyond the source, the
// places of greatest elements in every mode, images without a batch.

#include "window_loops.h"

static const FourAxes kCases[] = {
    {{}, {{3, 2, 1, 1, 1, 0}, {4, 1, 2}, {5, 3, 2, 1, 0, 2}, {4, 2, 1, 2, 1, 1}}, kExplicit},
    {{}, {{3, 2, 1, 1, 1, 0}, {4, 1, 2}, {5, 3, 2, 1, 0, 2}, {4, 2, 1, 2, 1, 1}}, kExplicit, false, true},
    {{2}, {{2, 1}, {3, 2, 2}, {5, 2, 1}, {4, 3, 2}}, kSame},
    {{}, {{2, 1}, {2, 1}, {6, 4}, {5, 2, 2}}, kSameLower},
    {{}, {{2, 1}, {3, 1}, {7, 3, 2}, {6, 2, 3}}, kValid},
    // the last window reaches beyond the source
    {{}, {{2, 1}, {3, 2, 2}, {6, 3, 2}, {7, 2, 3}}, kExplicit, true},
};

static MPSGraphPooling4DOpDescriptor* descriptor(const FourAxes& c) {
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

// An image of a batch, in a layout, as a case; and its descriptor, which has two axes.
struct Image {
  MPSGraphTensorNamedDataLayout layout;
  bool has_batch;
  FourAxes c;

  Image(MPSGraphTensorNamedDataLayout given, bool batch, const Along& y, const Along& x, MPSGraphPaddingStyle style,
        bool rounds_up = false, bool counts_padding = false)
      : layout(given), has_batch(batch) {
    const Along images{batch ? 2 : 1, 1}, channels{3, 1};
    const bool first = layout == MPSGraphTensorNamedDataLayoutNCHW;
    c = {{},
         first ? std::vector<Along>{images, channels, y, x} : std::vector<Along>{images, y, x, channels},
         style,
         rounds_up,
         counts_padding};
  }
  Array given(Array a) const {
    if (!has_batch) a.shape.erase(a.shape.begin());
    return a;
  }
  MPSGraphPooling2DOpDescriptor* descriptor() const {
    const size_t rows = layout == MPSGraphTensorNamedDataLayoutNCHW ? 2 : 1;
    const Along &y = c.axes.at(rows), &x = c.axes.at(rows + 1);
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
    [d setCeilMode:c.rounds_up];
    [d setIncludeZeroPadToAverage:c.counts_padding];
    return d;
  }
};

template <class F>
static void for_each_image(F f) {
  for (const auto layout : {MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutNHWC}) {
    for (const bool batch : {true, false}) {
      // One row more, or rounding up, would make another window; for "same" a higher window begins elsewhere.
      f(Image(layout, batch, {7, 3, 2, 1, 1, 0}, {5, 2, 1, 2, 0, 1}, kExplicit));
      f(Image(layout, batch, {7, 3, 2, 1, 1, 0}, {9, 2, 1, 1, 0, 1}, kExplicit, false, true));
      f(Image(layout, batch, {6, 3, 2}, {5, 2, 1, 2}, kSame));
      f(Image(layout, batch, {6, 4}, {7, 2, 2}, kSameLower));
      f(Image(layout, batch, {8, 3, 3}, {6, 2, 2}, kValid));
      f(Image(layout, batch, {6, 3, 2}, {8, 3, 3}, kExplicit, true));
    }
  }
}

// ---- what is computed ----

enum Kind { kGreatest, kAverage, kNorm };

struct Pooled {
  Array x, dy, y, dx;
  std::vector<Index> place, tap;  // of the first greatest element of each window

  Pooled(Kind kind, const FourAxes& c, const Array& source) : x(source), dy(random_array(c.result())), y(dy.shape) {
    dx = Array(x.shape);
    if (kind == kGreatest) take_greatest(c);
    else if (kind == kAverage) take_average(c);
    else take_norm(c);
  }

 private:
  void take_greatest(const FourAxes& c) {
    place.resize(y.values.size());
    tap.resize(y.values.size());
    c.for_each([&](const Index& r, const Index& s, const Index& t) {
      Index& best = place.at(y.offset(r));
      if (!best.empty() && x.at(s) <= x.at(best)) return;
      best = s;
      tap.at(y.offset(r)) = t;
    });
    for (size_t i = 0; i < y.values.size(); ++i) {
      y.values.at(i) = x.at(place.at(i));
      dx.at(place.at(i)) += dy.values.at(i);
    }
  }
  void take_average(const FourAxes& c) {
    double taps = 1;
    for (const Along& axis : c.axes) taps *= static_cast<double>(axis.kernel);
    Array seen(y.shape);
    c.for_each([&](const Index& r, const Index&, const Index&) { seen.at(r) += 1; });
    c.for_each([&](const Index& r, const Index& s, const Index&) {
      const double divisor = c.counts_padding ? taps : seen.at(r);
      y.at(r) += x.at(s) / divisor;
      dx.at(s) += dy.at(r) / divisor;
    });
  }
  void take_norm(const FourAxes& c) {
    c.for_each([&](const Index& r, const Index& s, const Index&) { y.at(r) += x.at(s) * x.at(s); });
    y = map(y, [](double v) { return std::sqrt(v); });
    c.for_each([&](const Index& r, const Index& s, const Index&) { dx.at(s) += dy.at(r) * x.at(s) / y.at(r); });
  }
};

// Everything below 0: padding must not win.
static Array below_zero(const FourAxes& c) { return random_array(c.source(), -9, -5); }

TEST(four_axes) {
  for (const FourAxes& c : kCases) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphPooling4DOpDescriptor* d = descriptor(c);
    const Pooled most(kGreatest, c, below_zero(c)), mean(kAverage, c, most.x), norm(kNorm, c, most.x);
    MPSGraphTensor *x = session.feed(most.x), *dmost = session.feed(most.dy), *dmean = session.feed(mean.dy),
                   *dnorm = session.feed(norm.dy);
    CHECK_ARRAY(session.run([g maxPooling4DWithSourceTensor:x descriptor:d name:nil]), most.y);
    CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:dmost sourceTensor:x descriptor:d name:nil]),
                most.dx);
    CHECK_ARRAY(session.run([g avgPooling4DWithSourceTensor:x descriptor:d name:nil]), mean.y);
    CHECK_ARRAY(session.run([g avgPooling4DGradientWithGradientTensor:dmean sourceTensor:x descriptor:d name:nil]),
                mean.dx);
    CHECK_ARRAY(session.run([g L2NormPooling4DWithSourceTensor:x descriptor:d name:nil]), norm.y);
    CHECK_ARRAY(session.run([g L2NormPooling4DGradientWithGradientTensor:dnorm sourceTensor:x descriptor:d name:nil]),
                norm.dx);
  }
}

TEST(images) {
  for_each_image([](const Image& image) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphPooling2DOpDescriptor* d = image.descriptor();
    const Pooled most(kGreatest, image.c, below_zero(image.c)), mean(kAverage, image.c, most.x);
    MPSGraphTensor *x = session.feed(image.given(most.x)), *dmost = session.feed(image.given(most.dy)),
                   *dmean = session.feed(image.given(mean.dy));
    CHECK_ARRAY(session.run([g maxPooling2DWithSourceTensor:x descriptor:d name:nil]), image.given(most.y));
    CHECK_ARRAY(session.run([g maxPooling2DGradientWithGradientTensor:dmost sourceTensor:x descriptor:d name:nil]),
                image.given(most.dx));
    CHECK_ARRAY(session.run([g avgPooling2DWithSourceTensor:x descriptor:d name:nil]), image.given(mean.y));
    CHECK_ARRAY(session.run([g avgPooling2DGradientWithGradientTensor:dmean sourceTensor:x descriptor:d name:nil]),
                image.given(mean.dx));
  });
}

#ifndef __APPLE__
// Our choice: of equals, the first in window order takes the gradient.
TEST(ties) {
  const FourAxes& c = kCases[0];
  const Pooled most(kGreatest, c, random_integers(c.source(), -1, 1, MPSDataTypeFloat32));
  Session session;
  MPSGraphTensor *dy = session.feed(most.dy), *x = session.feed(most.x);
  CHECK_ARRAY(session.run([session.graph() maxPooling4DGradientWithGradientTensor:dy
                                                                     sourceTensor:x
                                                                       descriptor:descriptor(c)
                                                                             name:nil]),
              most.dx);
}
#endif

// The root's slope at 0 is infinite; a window of zeros takes no gradient.
TEST(norms_of_zeros) {
  const FourAxes c{{}, {{1, 1}, {1, 1}, {2, 2}, {4, 2, 2}}, kValid};
  Session session;
  MPSGraphTensor *dy = session.feed(Array({1, 1, 1, 2}, {7, 10})),
                 *x = session.feed(Array({1, 1, 2, 4}, {0, 0, 3, 0, 0, 0, 0, 4}));
  CHECK_ARRAY(session.run([session.graph() L2NormPooling4DGradientWithGradientTensor:dy
                                                                        sourceTensor:x
                                                                          descriptor:descriptor(c)
                                                                                name:nil]),
              Array({1, 1, 2, 4}, {0, 0, 6, 0, 0, 0, 0, 8}));
}

// ---- places ----

// How many of the last axes indices are flattened over, in the window or in the source.
struct Mode {
  MPSGraphPoolingReturnIndicesMode mode;
  size_t axes;
  bool is_local;
};

static const Mode kModes[] = {
    {MPSGraphPoolingReturnIndicesGlobalFlatten1D, 1, false}, {MPSGraphPoolingReturnIndicesGlobalFlatten2D, 2, false},
    {MPSGraphPoolingReturnIndicesGlobalFlatten3D, 3, false}, {MPSGraphPoolingReturnIndicesGlobalFlatten4D, 4, false},
    {MPSGraphPoolingReturnIndicesLocalFlatten1D, 1, true},   {MPSGraphPoolingReturnIndicesLocalFlatten2D, 2, true},
    {MPSGraphPoolingReturnIndicesLocalFlatten3D, 3, true},   {MPSGraphPoolingReturnIndicesLocalFlatten4D, 4, true}};

static Array indices_of(const FourAxes& c, const Pooled& most, const Mode& mode) {
  Shape window;
  for (const Along& axis : c.axes) window.push_back(axis.kernel);
  const Shape& shape = mode.is_local ? window : most.x.shape;
  Array indices(most.y.shape, 0, MPSDataTypeInt32);
  for (size_t i = 0; i < indices.values.size(); ++i) {
    const Index& index = mode.is_local ? most.tap.at(i) : most.place.at(i);
    long at = 0;
    for (size_t axis = shape.size() - mode.axes; axis < shape.size(); ++axis) {
      at = at * shape.at(axis) + index.at(axis);
    }
    indices.values.at(i) = static_cast<double>(at);
  }
  return indices;
}

// Whether the indices tell all axes that windows move along.
static bool tells_all(const FourAxes& c, const Mode& mode) {
  for (size_t i = 0; i + mode.axes < 4; ++i) {
    if (c.axes.at(i).windows() != c.axes.at(i).extent || c.axes.at(i).kernel != 1) return false;
  }
  return true;
}

TEST(places_along_four_axes) {
  for (const FourAxes& c : kCases) {
    const Pooled most(kGreatest, c, below_zero(c));
    for (const Mode& mode : kModes) {
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphPooling4DOpDescriptor* d = descriptor(c);
      [d setReturnIndicesMode:mode.mode];
      NSArray* both = [g maxPooling4DReturnIndicesWithSourceTensor:session.feed(most.x) descriptor:d name:nil];
      MPSGraphTensor *dy = session.feed(most.dy), *indices = [both objectAtIndex:1];
      CHECK_ARRAY(session.run([both objectAtIndex:0]), most.y);
      CHECK_ARRAY(session.run(indices), indices_of(c, most, mode));
      if (!tells_all(c, mode)) continue;
      CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:dy
                                                          indicesTensor:indices
                                                            outputShape:numbers(most.x.shape)
                                                             descriptor:d
                                                                   name:nil]),
                  most.dx);
      CHECK_ARRAY(session.run([g maxPooling4DGradientWithGradientTensor:dy
                                                          indicesTensor:indices
                                                      outputShapeTensor:integers(g, most.x.shape)
                                                             descriptor:d
                                                                   name:nil]),
                  most.dx);
    }
  }
}

TEST(places_in_images) {
  for_each_image([](const Image& image) {
    const Pooled most(kGreatest, image.c, below_zero(image.c));
    const Shape shape = image.given(most.x).shape;
    for (const Mode& mode : kModes) {
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphPooling2DOpDescriptor* d = image.descriptor();
      [d setReturnIndicesMode:mode.mode];
      MPSGraphTensor *x = session.feed(image.given(most.x)), *dy = session.feed(image.given(most.dy));
      NSArray* both = [g maxPooling2DReturnIndicesWithSourceTensor:x descriptor:d name:nil];
      MPSGraphTensor* indices = [both objectAtIndex:1];
      CHECK_ARRAY(session.run([both objectAtIndex:0]), image.given(most.y));
      CHECK_ARRAY(session.run(indices), image.given(indices_of(image.c, most, mode)));
      if (!tells_all(image.c, mode)) continue;
      CHECK_ARRAY(session.run([g maxPooling2DGradientWithGradientTensor:dy
                                                          indicesTensor:indices
                                                            outputShape:numbers(shape)
                                                             descriptor:d
                                                                   name:nil]),
                  image.given(most.dx));
      CHECK_ARRAY(session.run([g maxPooling2DGradientWithGradientTensor:dy
                                                          indicesTensor:indices
                                                      outputShapeTensor:integers(g, shape)
                                                             descriptor:d
                                                                   name:nil]),
                  image.given(most.dx));
    }
  });
}

#ifndef __APPLE__
TEST(what_indices_cannot_tell) {
  Session session;
  MPSGraph* g = session.graph();
  const FourAxes& c = kCases[0];
  MPSGraphTensor *x = placeholder(g, c.source()), *dy = placeholder(g, c.result()),
                 *indices = placeholder(g, c.result(), MPSDataTypeInt32);
  MPSGraphPooling4DOpDescriptor* d = descriptor(c);
  CHECK_RAISES([g maxPooling4DReturnIndicesWithSourceTensor:x descriptor:d name:nil]);  // the mode is None
  [d setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
  CHECK_RAISES([g maxPooling4DGradientWithGradientTensor:dy
                                           indicesTensor:indices
                                             outputShape:numbers(c.source())
                                              descriptor:d
                                                    name:nil]);
  CHECK_RAISES([d setReturnIndicesDataType:MPSDataTypeInt64]);
  CHECK_RAISES([d setKernelSizes:numbers({1, 2, 0, 1})]);
  CHECK_RAISES([d setPaddingValues:numbers({1, 2, 0, 1})]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
