// Two-dimensional convolution, its two gradient ops and its derivatives, in every layout, against loops.

#include "graph_testing.h"

using Layout = MPSGraphTensorNamedDataLayout;

struct Case {
  long batch, height, width, channels;  // of the source
  long kernel_height, kernel_width, filters;
  long stride_x, stride_y, dilation_x, dilation_y, groups;
  long left, right, top, bottom;
  MPSGraphPaddingStyle style;
};

static const Case kCases[] = {
    // everything differs from everything
    {2, 7, 9, 3, 3, 2, 4, 2, 1, 1, 1, 1, 1, 0, 2, 1, MPSGraphPaddingStyleExplicit},
    {1, 8, 11, 2, 2, 3, 3, 1, 3, 1, 1, 1, 0, 3, 1, 0, MPSGraphPaddingStyleExplicit},
    {1, 5, 6, 2, 3, 3, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleExplicit},
    // a stride that leaves the last rows and columns unused, and one longer than the kernel
    {2, 8, 10, 2, 3, 3, 3, 4, 3, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID},
    {1, 9, 7, 2, 2, 1, 3, 2, 3, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID},
    // padding that the style makes, of even and odd total; the fields mean nothing then
    {1, 5, 6, 2, 2, 4, 3, 1, 1, 1, 1, 1, 5, 6, 7, 8, MPSGraphPaddingStyleTF_SAME},
    {2, 7, 8, 2, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    {1, 8, 7, 3, 4, 5, 2, 3, 2, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    {1, 6, 5, 2, 1, 1, 3, 3, 2, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    {1, 5, 6, 2, 2, 4, 3, 1, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleONNX_SAME_LOWER},
    {1, 7, 8, 2, 3, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleONNX_SAME_LOWER},
    // dilation
    {1, 11, 8, 2, 3, 2, 3, 1, 1, 2, 3, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID},
    {1, 9, 7, 2, 2, 3, 3, 2, 1, 3, 2, 1, 2, 1, 0, 3, MPSGraphPaddingStyleExplicit},
    {2, 6, 9, 2, 3, 2, 2, 1, 2, 3, 2, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    // groups, down to one channel each and with several filters per channel
    {2, 5, 6, 4, 2, 3, 6, 1, 1, 1, 1, 2, 0, 1, 1, 0, MPSGraphPaddingStyleExplicit},
    {1, 6, 5, 3, 3, 2, 3, 1, 2, 1, 1, 3, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    {1, 6, 5, 3, 2, 3, 6, 2, 1, 1, 2, 3, 1, 0, 2, 0, MPSGraphPaddingStyleExplicit},
    // wide enough for whole vectors of channels
    {2, 6, 5, 16, 3, 3, 24, 1, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME},
    {1, 1, 1, 5, 1, 1, 7, 1, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleExplicit},
};

// Result length and zeros before along one axis, from the documented formulas.
struct Axis {
  long length, before;
};

static Axis axis_of(const Case& c, long in, long kernel, long stride, long dilation, long before, long after) {
  const long reach = (kernel - 1) * dilation + 1;
  if (c.style == MPSGraphPaddingStyleExplicit) return {(in + before + after - reach) / stride + 1, before};
  if (c.style == MPSGraphPaddingStyleTF_VALID) return {(in - reach + 1 + stride - 1) / stride, 0};
  const long length = (in + stride - 1) / stride;
  const long total = std::max((length - 1) * stride + reach - in, 0l);
  return {length, c.style == MPSGraphPaddingStyleTF_SAME ? total / 2 : total - total / 2};
}

static Axis height_of(const Case& c) {
  return axis_of(c, c.height, c.kernel_height, c.stride_y, c.dilation_y, c.top, c.bottom);
}

static Axis width_of(const Case& c) {
  return axis_of(c, c.width, c.kernel_width, c.stride_x, c.dilation_x, c.left, c.right);
}

static Shape source_shape(const Case& c) { return {c.batch, c.height, c.width, c.channels}; }
static Shape weights_shape(const Case& c) {
  return {c.kernel_height, c.kernel_width, c.channels / c.groups, c.filters};
}
static Shape result_shape(const Case& c) { return {c.batch, height_of(c).length, width_of(c).length, c.filters}; }

// Calls f(source index, weights index, result index) for each product, in NHWC and HWIO.
template <class F>
static void for_each_product(const Case& c, F f) {
  const long filters_per_group = c.filters / c.groups, channels_per_group = c.channels / c.groups;
  for_each_index(result_shape(c), [&](const Index& r) {
    for_each_index({c.kernel_height, c.kernel_width, channels_per_group}, [&](const Index& k) {
      const long y = r.at(1) * c.stride_y + k.at(0) * c.dilation_y - height_of(c).before;
      const long x = r.at(2) * c.stride_x + k.at(1) * c.dilation_x - width_of(c).before;
      if (y < 0 || y >= c.height || x < 0 || x >= c.width) return;
      const long group = r.at(3) / filters_per_group;
      f(Index{r.at(0), y, x, group * channels_per_group + k.at(2)}, Index{k.at(0), k.at(1), k.at(2), r.at(3)}, r);
    });
  });
}

static Array in_data_layout(const Array& nhwc, Layout layout) {
  return layout == MPSGraphTensorNamedDataLayoutNCHW ? permuted(nhwc, {0, 3, 1, 2}) : nhwc;
}

static Array in_weights_layout(const Array& hwio, Layout layout) {
  return layout == MPSGraphTensorNamedDataLayoutOIHW ? permuted(hwio, {3, 2, 0, 1}) : hwio;
}

static NSUInteger unsign(long value) { return static_cast<NSUInteger>(value); }

static MPSGraphConvolution2DOpDescriptor* descriptor(const Case& c, Layout data, Layout weights) {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:unsign(c.stride_x)
                                                          strideInY:unsign(c.stride_y)
                                                    dilationRateInX:unsign(c.dilation_x)
                                                    dilationRateInY:unsign(c.dilation_y)
                                                             groups:unsign(c.groups)
                                                        paddingLeft:unsign(c.left)
                                                       paddingRight:unsign(c.right)
                                                         paddingTop:unsign(c.top)
                                                      paddingBottom:unsign(c.bottom)
                                                       paddingStyle:c.style
                                                         dataLayout:data
                                                      weightsLayout:weights];
}

static const std::pair<Layout, Layout> kLayouts[] = {
    {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutHWIO},
    {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutOIHW},
    {MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutHWIO},
    {MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutOIHW},
};

static Array as_integers(const Shape& shape, MPSDataType type) {
  return Array({static_cast<long>(shape.size())}, std::vector<double>(shape.begin(), shape.end()), type);
}

static void check_case(const Case& c, Layout data, Layout weights_layout) {
  const Array x = random_array(source_shape(c)), w = random_array(weights_shape(c)), dy = random_array(result_shape(c));
  Array y(result_shape(c)), dx(x.shape), dw(w.shape);
  for_each_product(c, [&](const Index& ix, const Index& iw, const Index& iy) {
    y.at(iy) += x.at(ix) * w.at(iw);
    dx.at(ix) += dy.at(iy) * w.at(iw);
    dw.at(iw) += dy.at(iy) * x.at(ix);
  });
  const Array source = in_data_layout(x, data), weights = in_weights_layout(w, weights_layout),
              gradient = in_data_layout(dy, data);
  const Array to_source = in_data_layout(dx, data), to_weights = in_weights_layout(dw, weights_layout);

  Session session;
  MPSGraph* g = session.graph();
  MPSGraphConvolution2DOpDescriptor* d = descriptor(c, data, weights_layout);
  MPSGraphTensor *tx = session.feed(source), *tw = session.feed(weights), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run([g convolution2DWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
              in_data_layout(y, data));
  CHECK_ARRAY(session.run([g convolution2DDataGradientWithIncomingGradientTensor:tdy
                                                                   weightsTensor:tw
                                                                     outputShape:numbers(source.shape)
                                                    forwardConvolutionDescriptor:d
                                                                            name:nil]),
              to_source);
  CHECK_ARRAY(session.run([g convolution2DWeightsGradientWithIncomingGradientTensor:tdy
                                                                       sourceTensor:tx
                                                                        outputShape:numbers(weights.shape)
                                                       forwardConvolutionDescriptor:d
                                                                               name:nil]),
              to_weights);
  // The shape as a tensor: a constant of either integer type, and the shape of another tensor.
  for (MPSGraphTensor* shape :
       {constant(g, as_integers(source.shape, MPSDataTypeInt32)),
        constant(g, as_integers(source.shape, MPSDataTypeInt64)), [g shapeOfTensor:tx name:nil]}) {
    CHECK_ARRAY(session.run([g convolution2DDataGradientWithIncomingGradientTensor:tdy
                                                                     weightsTensor:tw
                                                                 outputShapeTensor:shape
                                                      forwardConvolutionDescriptor:d
                                                                              name:nil]),
                to_source);
  }
  for (MPSGraphTensor* shape :
       {constant(g, as_integers(weights.shape, MPSDataTypeInt32)),
        constant(g, as_integers(weights.shape, MPSDataTypeInt64)), [g shapeOfTensor:tw name:nil]}) {
    CHECK_ARRAY(session.run([g convolution2DWeightsGradientWithIncomingGradientTensor:tdy
                                                                         sourceTensor:tx
                                                                    outputShapeTensor:shape
                                                         forwardConvolutionDescriptor:d
                                                                                 name:nil]),
                to_weights);
  }
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph convolution2DWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
  };
  const Differentiated graph(build, {source, weights}, gradient);
  CHECK_ARRAY(graph.gradients.at(0), to_source);
  CHECK_ARRAY(graph.gradients.at(1), to_weights);
}

static void values_and_gradients() {
  for (const Case& c : kCases) {
    for (const auto& [data, weights] : kLayouts) {
      @autoreleasepool {
        check_case(c, data, weights);
      }
    }
  }
}

// The derivatives again by finite differences, and those of the gradient ops themselves.
static void finite_differences() {
  for (size_t n : {0u, 4u, 7u, 13u, 16u}) {
    const Case& c = kCases[n];
    const auto& [data, weights_layout] = kLayouts[n % 4];
    MPSGraphConvolution2DOpDescriptor* d = descriptor(c, data, weights_layout);
    const Array source = in_data_layout(random_array(source_shape(c)), data);
    const Array weights = in_weights_layout(random_array(weights_shape(c)), weights_layout);
    const Array gradient = in_data_layout(random_array(result_shape(c)), data);
    const Build forward = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g convolution2DWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
    };
    const Build to_source = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g convolution2DDataGradientWithIncomingGradientTensor:t.at(0)
                                                      weightsTensor:t.at(1)
                                                        outputShape:numbers(source.shape)
                                       forwardConvolutionDescriptor:d
                                                               name:nil];
    };
    const Build to_weights = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g convolution2DWeightsGradientWithIncomingGradientTensor:t.at(0)
                                                          sourceTensor:t.at(1)
                                                           outputShape:numbers(weights.shape)
                                          forwardConvolutionDescriptor:d
                                                                  name:nil];
    };
    CHECK_GRADIENTS(forward, {source, weights});
    CHECK_GRADIENTS(to_source, {gradient, weights});
    CHECK_GRADIENTS(to_weights, {gradient, source});
  }
}

static void a_constant_as_weights() {
  const Case& c = kCases[0];
  const Array x = random_array(source_shape(c)), w = random_array(weights_shape(c));
  Array y(result_shape(c));
  for_each_product(c, [&](const Index& ix, const Index& iw, const Index& iy) { y.at(iy) += x.at(ix) * w.at(iw); });
  Session session;
  MPSGraphConvolution2DOpDescriptor* d =
      descriptor(c, MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutHWIO);
  MPSGraphTensor* result = [session.graph() convolution2DWithSourceTensor:session.feed(x)
                                                            weightsTensor:constant(session.graph(), w)
                                                               descriptor:d
                                                                     name:@"filtered"];
  // The op keeps what the descriptor said when it was made.
  [d setStrideInX:1];
  [d setPaddingTop:0];
  CHECK_ARRAY(session.run(result), y);
  CHECK([[[result operation] name] isEqualToString:@"filtered"]);
}

static void descriptors_hold_their_fields() {
  MPSGraphConvolution2DOpDescriptor* d =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:2
                                                       strideInY:3
                                                 dilationRateInX:4
                                                 dilationRateInY:5
                                                          groups:6
                                                     paddingLeft:7
                                                    paddingRight:8
                                                      paddingTop:9
                                                   paddingBottom:10
                                                    paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNCHW
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutOIHW];
  MPSGraphConvolution2DOpDescriptor* copy = [[d copy] autorelease];
  CHECK(copy != d);
  [d setStrideInX:1];
  CHECK([copy strideInX] == 2 && [copy strideInY] == 3 && [copy dilationRateInX] == 4 && [copy dilationRateInY] == 5);
  CHECK([copy groups] == 6 && [copy paddingLeft] == 7 && [copy paddingRight] == 8 && [copy paddingTop] == 9);
  CHECK([copy paddingBottom] == 10 && [copy paddingStyle] == MPSGraphPaddingStyleTF_SAME);
  CHECK([copy dataLayout] == MPSGraphTensorNamedDataLayoutNCHW &&
        [copy weightsLayout] == MPSGraphTensorNamedDataLayoutOIHW);
  CHECK([d strideInX] == 1);

  MPSGraphConvolution2DOpDescriptor* bare =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:2
                                                       strideInY:3
                                                 dilationRateInX:4
                                                 dilationRateInY:5
                                                          groups:6
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  CHECK([bare strideInX] == 2 && [bare strideInY] == 3 && [bare dilationRateInX] == 4 && [bare dilationRateInY] == 5);
  CHECK([bare groups] == 6 && [bare paddingStyle] == MPSGraphPaddingStyleTF_VALID);
  CHECK([bare paddingLeft] == 0 && [bare paddingRight] == 0 && [bare paddingTop] == 0 && [bare paddingBottom] == 0);
  [bare setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
  CHECK([bare paddingLeft] == 1 && [bare paddingRight] == 2 && [bare paddingTop] == 3 && [bare paddingBottom] == 4);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  [bare setStrideInY:11];
  [bare setDilationRateInX:12];
  [bare setDilationRateInY:13];
  [bare setGroups:14];
  [bare setPaddingLeft:15];
  [bare setPaddingRight:16];
  [bare setPaddingTop:17];
  [bare setPaddingBottom:18];
  [bare setPaddingStyle:MPSGraphPaddingStyleONNX_SAME_LOWER];
  [bare setDataLayout:MPSGraphTensorNamedDataLayoutNCHW];
  [bare setWeightsLayout:MPSGraphTensorNamedDataLayoutOIHW];
  CHECK([bare strideInX] == 2 && [bare strideInY] == 11 && [bare dilationRateInX] == 12 &&
        [bare dilationRateInY] == 13);
  CHECK([bare groups] == 14 && [bare paddingLeft] == 15 && [bare paddingRight] == 16 && [bare paddingTop] == 17);
  CHECK([bare paddingBottom] == 18 && [bare paddingStyle] == MPSGraphPaddingStyleONNX_SAME_LOWER);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNCHW &&
        [bare weightsLayout] == MPSGraphTensorNamedDataLayoutOIHW);
}

int main() {
  @autoreleasepool {
    values_and_gradients();
    finite_differences();
    a_constant_as_weights();
    descriptors_hold_their_fields();
  }
  return check::summary();
}
