// Convolutions of every kind and their gradients against loops, by what the engine does not send: padding that a style
// makes, shapes in tensors, transposed and depthwise convolutions. The engine's are in tests/python/ops/test_ops.py.

#include "window_loops.h"

struct Case {
  long batch, channels, filters, groups;
  std::vector<Along> axes;
  MPSGraphPaddingStyle style;
};

// What a convolution computes, and the two gradients for an incoming one, with channels and filters last.
struct Values {
  Array x, w, dy, y, dx, dw;

  explicit Values(const Case& c) {
    const std::vector<Along> axes = padded(c.axes, c.style);
    Shape extents, kernel, windows;
    for (const Along& axis : axes) {
      extents.push_back(axis.extent);
      kernel.push_back(axis.kernel);
      windows.push_back(axis.windows());
    }
    const long in = c.channels / c.groups, out = c.filters / c.groups;
    x = random_array(joined({c.batch}, extents, {c.channels}));
    w = random_array(joined(kernel, {in, c.filters}));
    dy = random_array(joined({c.batch}, windows, {c.filters}));
    y = Array(dy.shape);
    dx = Array(x.shape);
    dw = Array(w.shape);
    for (long n = 0; n < c.batch; ++n) {
      for_each_seen(axes, [&](const Index& window, const Index& place, const Index& tap) {
        for_each_index({c.groups, in, out}, [&](const Index& k) {
          const long filter = k.at(0) * out + k.at(2);
          const Index ix = joined({n}, place, {k.at(0) * in + k.at(1)}), iw = joined(tap, {k.at(1), filter}),
                      iy = joined({n}, window, {filter});
          y.at(iy) += x.at(ix) * w.at(iw);
          dx.at(ix) += dy.at(iy) * w.at(iw);
          dw.at(iw) += dy.at(iy) * x.at(ix);
        });
      });
    }
  }
};

// NHWC as NCHW, and HWIO as OIHW; of volumes, too.
static Array channels_first(const Array& x) {
  std::vector<long> order = {0, static_cast<long>(x.shape.size()) - 1};
  for (long i = 1; i < order.at(1); ++i) order.push_back(i);
  return permuted(x, order);
}

static Array filters_first(const Array& w) {
  const long rank = static_cast<long>(w.shape.size());
  std::vector<long> order = {rank - 1, rank - 2};
  for (long i = 0; i < rank - 2; ++i) order.push_back(i);
  return permuted(w, order);
}

// The operands of a convolution, and the shapes of its gradients, as numbers and as tensors.
struct Operands {
  MPSGraph* g;
  MPSGraphTensor *x, *w, *dy;
  MPSShape *source, *weights, *result;
  id d;

  MPSGraphTensor* tensor(MPSShape* shape) const { return integers(g, shape_of(shape)); }
};

// What a kind of convolution and its gradients are built by.
struct Kind {
  Tensors (*forward)(const Operands& o), (*to_source)(const Operands& o), (*to_weights)(const Operands& o);
};

static const Kind kFlat = {[](const Operands& o) -> Tensors {
                             return {[o.g convolution2DWithSourceTensor:o.x weightsTensor:o.w descriptor:o.d name:nil]};
                           },
                           [](const Operands& o) -> Tensors {
                             return {[o.g convolution2DDataGradientWithIncomingGradientTensor:o.dy
                                                                                weightsTensor:o.w
                                                                                  outputShape:o.source
                                                                 forwardConvolutionDescriptor:o.d
                                                                                         name:nil],
                                     [o.g convolution2DDataGradientWithIncomingGradientTensor:o.dy
                                                                                weightsTensor:o.w
                                                                            outputShapeTensor:o.tensor(o.source)
                                                                 forwardConvolutionDescriptor:o.d
                                                                                         name:nil],
                                     [o.g convolution2DDataGradientWithIncomingGradientTensor:o.dy
                                                                                weightsTensor:o.w
                                                                            outputShapeTensor:[o.g shapeOfTensor:o.x
                                                                                                            name:nil]
                                                                 forwardConvolutionDescriptor:o.d
                                                                                         name:nil]};
                           },
                           [](const Operands& o) -> Tensors {
                             return {[o.g convolution2DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                                    sourceTensor:o.x
                                                                                     outputShape:o.weights
                                                                    forwardConvolutionDescriptor:o.d
                                                                                            name:nil],
                                     [o.g convolution2DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                                    sourceTensor:o.x
                                                                               outputShapeTensor:o.tensor(o.weights)
                                                                    forwardConvolutionDescriptor:o.d
                                                                                            name:nil]};
                           }};

static const Kind kVolume = {[](const Operands& o) -> Tensors {
                               return {[o.g convolution3DWithSourceTensor:o.x
                                                            weightsTensor:o.w
                                                               descriptor:o.d
                                                                     name:nil]};
                             },
                             [](const Operands& o) -> Tensors {
                               return {[o.g convolution3DDataGradientWithIncomingGradientTensor:o.dy
                                                                                  weightsTensor:o.w
                                                                                    outputShape:o.source
                                                                   forwardConvolutionDescriptor:o.d
                                                                                           name:nil],
                                       [o.g convolution3DDataGradientWithIncomingGradientTensor:o.dy
                                                                                  weightsTensor:o.w
                                                                              outputShapeTensor:o.tensor(o.source)
                                                                   forwardConvolutionDescriptor:o.d
                                                                                           name:nil]};
                             },
                             [](const Operands& o) -> Tensors {
                               return {[o.g convolution3DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                                      sourceTensor:o.x
                                                                                       outputShape:o.weights
                                                                      forwardConvolutionDescriptor:o.d
                                                                                              name:nil],
                                       [o.g convolution3DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                                      sourceTensor:o.x
                                                                                 outputShapeTensor:o.tensor(o.weights)
                                                                      forwardConvolutionDescriptor:o.d
                                                                                              name:nil]};
                             }};

static const Kind kTransposed = {
    [](const Operands& o) -> Tensors {
      return {[o.g convolutionTranspose2DWithSourceTensor:o.x
                                            weightsTensor:o.w
                                              outputShape:o.result
                                               descriptor:o.d
                                                     name:nil],
              [o.g convolutionTranspose2DWithSourceTensor:o.x
                                            weightsTensor:o.w
                                        outputShapeTensor:o.tensor(o.result)
                                               descriptor:o.d
                                                     name:nil]};
    },
    [](const Operands& o) -> Tensors {
      return {[o.g convolutionTranspose2DDataGradientWithIncomingGradientTensor:o.dy
                                                                  weightsTensor:o.w
                                                                    outputShape:o.source
                                                   forwardConvolutionDescriptor:o.d
                                                                           name:nil],
              [o.g convolutionTranspose2DDataGradientWithIncomingGradientTensor:o.dy
                                                                  weightsTensor:o.w
                                                              outputShapeTensor:[o.g shapeOfTensor:o.x name:nil]
                                                   forwardConvolutionDescriptor:o.d
                                                                           name:nil]};
    },
    [](const Operands& o) -> Tensors {
      return {[o.g convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                      sourceTensor:o.x
                                                                       outputShape:o.weights
                                                      forwardConvolutionDescriptor:o.d
                                                                              name:nil],
              [o.g convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                      sourceTensor:o.x
                                                                 outputShapeTensor:o.tensor(o.weights)
                                                      forwardConvolutionDescriptor:o.d
                                                                              name:nil]};
    }};

static const Kind kDepthwise = {[](const Operands& o) -> Tensors {
                                  return {[o.g depthwiseConvolution2DWithSourceTensor:o.x
                                                                        weightsTensor:o.w
                                                                           descriptor:o.d
                                                                                 name:nil]};
                                },
                                [](const Operands& o) -> Tensors {
                                  return {[o.g depthwiseConvolution2DDataGradientWithIncomingGradientTensor:o.dy
                                                                                              weightsTensor:o.w
                                                                                                outputShape:o.source
                                                                                                 descriptor:o.d
                                                                                                       name:nil]};
                                },
                                [](const Operands& o) -> Tensors {
                                  return {[o.g depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                                                  sourceTensor:o.x
                                                                                                   outputShape:o.weights
                                                                                                    descriptor:o.d
                                                                                                          name:nil]};
                                }};

static const Kind kDepthwiseVolume = {
    [](const Operands& o) -> Tensors {
      return {[o.g depthwiseConvolution3DWithSourceTensor:o.x weightsTensor:o.w descriptor:o.d name:nil]};
    },
    [](const Operands& o) -> Tensors {
      return {[o.g depthwiseConvolution3DDataGradientWithIncomingGradientTensor:o.dy
                                                                  weightsTensor:o.w
                                                                    outputShape:o.source
                                                                     descriptor:o.d
                                                                           name:nil]};
    },
    [](const Operands& o) -> Tensors {
      return {[o.g depthwiseConvolution3DWeightsGradientWithIncomingGradientTensor:o.dy
                                                                      sourceTensor:o.x
                                                                       outputShape:o.weights
                                                                        descriptor:o.d
                                                                              name:nil]};
    }};

static void check_kind(const Kind& kind, const Values& v, id descriptor) {
  Session session;
  const Operands o = {session.graph(),    session.feed(v.x),  session.feed(v.w),   session.feed(v.dy),
                      numbers(v.x.shape), numbers(v.w.shape), numbers(v.dy.shape), descriptor};
  for (MPSGraphTensor* tensor : kind.forward(o)) CHECK_ARRAY(session.run(tensor), v.y);
  for (MPSGraphTensor* tensor : kind.to_source(o)) CHECK_ARRAY(session.run(tensor), v.dx);
  for (MPSGraphTensor* tensor : kind.to_weights(o)) CHECK_ARRAY(session.run(tensor), v.dw);
}

template <class Data, class Weights>
static Values in_layouts(Values v, Data data, Weights weights) {
  for (Array* each : {&v.x, &v.y, &v.dx, &v.dy}) *each = data(*each);
  for (Array* each : {&v.w, &v.dw}) *each = weights(*each);
  return v;
}

static const auto as_it_is = [](const Array& x) { return x; };

// Calls f(values, data layout, weights layout) for each pair of layouts, channels and filters last in the first ones.
template <class F>
static void in_every_layout(const Values& v, const std::vector<MPSGraphTensorNamedDataLayout>& layouts, F f) {
  f(v, layouts.at(0), layouts.at(2));
  f(in_layouts(v, as_it_is, filters_first), layouts.at(0), layouts.at(3));
  f(in_layouts(v, channels_first, as_it_is), layouts.at(1), layouts.at(2));
  f(in_layouts(v, channels_first, filters_first), layouts.at(1), layouts.at(3));
}

static const std::vector<MPSGraphTensorNamedDataLayout> kFlatLayouts = {MPSGraphTensorNamedDataLayoutNHWC,
                                                                        MPSGraphTensorNamedDataLayoutNCHW,
                                                                        MPSGraphTensorNamedDataLayoutHWIO,
                                                                        MPSGraphTensorNamedDataLayoutOIHW},
                                                        kVolumeLayouts = {MPSGraphTensorNamedDataLayoutNDHWC,
                                                                          MPSGraphTensorNamedDataLayoutNCDHW,
                                                                          MPSGraphTensorNamedDataLayoutDHWIO,
                                                                          MPSGraphTensorNamedDataLayoutOIDHW};

static id flat_descriptor(const Case& c, MPSGraphTensorNamedDataLayout data, MPSGraphTensorNamedDataLayout weights) {
  const Along &y = c.axes.at(0), &x = c.axes.at(1);
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                          strideInY:unsign(y.stride)
                                                    dilationRateInX:unsign(x.dilation)
                                                    dilationRateInY:unsign(y.dilation)
                                                             groups:unsign(c.groups)
                                                        paddingLeft:unsign(x.before)
                                                       paddingRight:unsign(x.after)
                                                         paddingTop:unsign(y.before)
                                                      paddingBottom:unsign(y.after)
                                                       paddingStyle:c.style
                                                         dataLayout:data
                                                      weightsLayout:weights];
}

TEST(images) {
  const Case cases[] = {
      {2, 3, 4, 1, {{7, 3, 2, 1, 1, 0}, {9, 2, 1, 2, 2, 1}}, kExplicit},
      // a stride that leaves the last rows and columns unused, and one longer than the kernel
      {2, 2, 3, 1, {{8, 3, 3}, {10, 3, 4}}, kValid},
      {1, 2, 3, 1, {{9, 2, 3}, {7, 1, 2}}, kValid},
      // padding that the style makes, of even and odd total; the fields mean nothing then
      {1, 2, 3, 1, {{5, 2, 1, 1, 7, 8}, {6, 4, 1, 1, 5, 6}}, kSame},
      {2, 2, 3, 1, {{6, 2, 2, 2}, {9, 2, 1, 3}}, kSame},
      {1, 3, 2, 1, {{8, 4, 2}, {7, 5, 3}}, kSame},
      {1, 3, 3, 3, {{6, 3, 2}, {5, 2, 1}}, kSame},
      {1, 2, 3, 1, {{5, 2}, {6, 4}}, kSameLower},
      {1, 2, 2, 1, {{7, 3, 2}, {8, 2, 2}}, kSameLower},
  };
  for (const Case& c : cases) {
    in_every_layout(Values(c), kFlatLayouts, [&](const Values& v, auto data, auto weights) {
      check_kind(kFlat, v, flat_descriptor(c, data, weights));
    });
  }
}

TEST(volumes) {
  const Case cases[] = {
      // everything differs from everything, and one more of any padding makes another window
      {2, 3, 4, 1, {{6, 2, 2, 1, 1, 0}, {4, 3, 1, 1, 2, 1}, {8, 2, 3, 2, 0, 3}}, kExplicit},
      {1, 2, 3, 1, {{4, 2, 1, 2}, {5, 3, 2, 1}, {6, 2, 1, 3}}, kValid},
      {2, 2, 2, 1, {{3, 2, 2}, {5, 2, 1}, {4, 3, 3}}, kSame},
      {1, 2, 2, 1, {{4, 2}, {5, 4}, {3, 3, 2}}, kSameLower},
      {1, 4, 6, 2, {{3, 2}, {4, 2, 2}, {4, 3}}, kValid},
  };
  for (const Case& c : cases) {
    const Along &z = c.axes.at(0), &y = c.axes.at(1), &x = c.axes.at(2);
    in_every_layout(Values(c), kVolumeLayouts, [&](const Values& v, auto data, auto weights) {
      check_kind(kVolume, v,
                 [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                                  strideInY:unsign(y.stride)
                                                                  strideInZ:unsign(z.stride)
                                                            dilationRateInX:unsign(x.dilation)
                                                            dilationRateInY:unsign(y.dilation)
                                                            dilationRateInZ:unsign(z.dilation)
                                                                     groups:unsign(c.groups)
                                                                paddingLeft:unsign(x.before)
                                                               paddingRight:unsign(x.after)
                                                                 paddingTop:unsign(y.before)
                                                              paddingBottom:unsign(y.after)
                                                               paddingFront:unsign(z.before)
                                                                paddingBack:unsign(z.after)
                                                               paddingStyle:c.style
                                                                 dataLayout:data
                                                              weightsLayout:weights]);
    });
  }
}

// What a convolution's gradient to its source computes: its result becomes the source, its source the result.
TEST(transposed) {
  const Case cases[] = {
      {2, 3, 4, 1, {{5, 3, 2, 1, 1, 0}, {7, 2, 1, 2, 2, 1}}, kExplicit},
      // two sizes of the result belong to one of the source
      {1, 2, 3, 1, {{7, 3, 2}, {6, 2, 3}}, kValid},
      {1, 2, 3, 1, {{8, 3, 2}, {7, 2, 3}}, kValid},
      {2, 3, 2, 1, {{5, 2, 2}, {4, 3, 1}}, kSame},
      {1, 2, 2, 1, {{4, 2, 3}, {5, 4, 1}}, kSameLower},
      {1, 4, 6, 2, {{5, 3, 2}, {4, 2, 1}}, kValid},
  };
  for (const Case& c : cases) {
    Values turned(c);
    std::swap(turned.x, turned.dy);
    std::swap(turned.y, turned.dx);
    in_every_layout(turned, kFlatLayouts, [&](const Values& v, auto data, auto weights) {
      check_kind(kTransposed, v, flat_descriptor(c, data, weights));
    });
  }
}

// As many groups as channels; the filters of each channel are an axis of their own.
static Values depthwise(const Case& c) {
  Values v(c);
  for (Array* each : {&v.w, &v.dw}) {
    each->shape.at(each->shape.size() - 2) = c.channels;
    each->shape.back() = c.filters / c.channels;
  }
  return v;
}

TEST(depthwise_images) {
  const Case cases[] = {
      {2, 3, 6, 3, {{5, 3, 2, 1, 1, 0}, {6, 2, 1, 2, 2, 1}}, kExplicit},
      {1, 3, 3, 3, {{6, 2, 1, 3}, {5, 3, 2, 1}}, kValid},
      {2, 2, 6, 2, {{5, 2, 2}, {4, 3}}, kSame},
      {1, 17, 17, 17, {{4, 2}, {5, 4, 3}}, kSameLower},
  };
  for (const Case& c : cases) {
    const Along &y = c.axes.at(0), &x = c.axes.at(1);
    in_every_layout(depthwise(c), kFlatLayouts, [&](const Values& v, auto data, auto weights) {
      check_kind(kDepthwise, v,
                 [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                                           strideInY:unsign(y.stride)
                                                                     dilationRateInX:unsign(x.dilation)
                                                                     dilationRateInY:unsign(y.dilation)
                                                                         paddingLeft:unsign(x.before)
                                                                        paddingRight:unsign(x.after)
                                                                          paddingTop:unsign(y.before)
                                                                       paddingBottom:unsign(y.after)
                                                                        paddingStyle:c.style
                                                                          dataLayout:data
                                                                       weightsLayout:weights]);
    });
  }
}

static MPSGraphDepthwiseConvolution3DOpDescriptor* volume_descriptor(const Case& c, long channel_axis) {
  std::vector<long> strides, dilations, padding;
  for (const Along& axis : c.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    padding.push_back(axis.before);
    padding.push_back(axis.after);
  }
  MPSGraphDepthwiseConvolution3DOpDescriptor* d =
      [MPSGraphDepthwiseConvolution3DOpDescriptor descriptorWithStrides:numbers(strides)
                                                          dilationRates:numbers(dilations)
                                                          paddingValues:numbers(padding)
                                                           paddingStyle:c.style];
  if (channel_axis != -4) [d setChannelDimensionIndex:channel_axis];  // which is where they are at first
  return d;
}

// Channels from the end to another of the last four axes; without axes of one batch, and of one filter a channel.
static Values with_channels_at(const Values& v, long channel_axis) {
  const auto moved = [&](Array x, bool is_weights) {
    if (is_weights) x.shape.pop_back();
    else if (x.shape.front() == 1) x.shape.erase(x.shape.begin());
    const long rank = static_cast<long>(x.shape.size());
    std::vector<long> order;
    for (long i = 0; i < rank - 1; ++i) order.push_back(i);
    order.insert(order.begin() + rank + channel_axis, rank - 1);
    return permuted(x, order);
  };
  return in_layouts(v, [&](const Array& x) { return moved(x, false); }, [&](const Array& w) { return moved(w, true); });
}

TEST(depthwise_volumes) {
  const Case cases[] = {
      {1, 3, 3, 3, {{4, 2, 2, 1, 1, 0}, {3, 2, 1, 1, 0, 1}, {5, 3, 1, 2, 2, 1}}, kExplicit},
      {2, 3, 3, 3, {{4, 2, 1, 2}, {5, 2, 2, 1}, {3, 3, 1, 1}}, kValid},
      {2, 3, 3, 3, {{3, 2, 2}, {4, 3, 1}, {5, 2, 3}}, kSame},
  };
  for (const Case& c : cases) {
    for (long axis : {-4, -3, -2, -1}) {
      check_kind(kDepthwiseVolume, with_channels_at(depthwise(c), axis), volume_descriptor(c, axis));
    }
  }
}

// The smallest source with so many windows: for strides that leave nothing over, the one there was.
TEST(a_shape_that_is_not_given) {
  const Case c{2, 3, 3, 3, {{4, 2, 2, 1, 1, 1}, {5, 3, 1}, {5, 2, 3}}, kExplicit};
  const Values v = with_channels_at(depthwise(c), -4);
  Session session;
  MPSGraphTensor *w = session.feed(v.w), *dy = session.feed(v.dy);
  MPSGraphTensor* dx =
      [session.graph() depthwiseConvolution3DDataGradientWithIncomingGradientTensor:dy
                                                                      weightsTensor:w
                                                                        outputShape:nil
                                                                         descriptor:volume_descriptor(c, -4)
                                                                               name:nil];
  CHECK_ARRAY(session.run(dx), v.dx);
}

#ifndef __APPLE__
TEST(shapes_that_do_not_belong_together) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphConvolution2DOpDescriptor* d =
      flat_descriptor({1, 2, 4, 1, {{3, 2}, {3, 2}}, kValid}, kFlatLayouts.at(0), kFlatLayouts.at(2));
  MPSGraphTensor *x = placeholder(g, {1, 3, 3, 2}), *w = placeholder(g, {2, 2, 4, 2}),
                 *y = placeholder(g, {1, 4, 4, 4});
  CHECK_RAISES([g convolutionTranspose2DWithSourceTensor:x
                                           weightsTensor:w
                                             outputShape:numbers({1, 5, 4, 4})
                                              descriptor:d
                                                    name:nil]);
  CHECK_RAISES([g convolutionTranspose2DDataGradientWithIncomingGradientTensor:y
                                                                 weightsTensor:w
                                                                   outputShape:numbers({1, 3, 4, 2})
                                                  forwardConvolutionDescriptor:d
                                                                          name:nil]);
  CHECK_RAISES([[[MPSGraphDepthwiseConvolution3DOpDescriptor new] autorelease] setStrides:numbers({1, 2})]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
