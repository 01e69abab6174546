// Depthwise convolution in two and three dimensions, its gradient ops and its derivatives, against loops.

#include "window_loops.h"

using Layout = MPSGraphTensorNamedDataLayout;

struct Case {
  long batch, channels, filters;  // of each channel
  std::vector<Along> axes;        // height, width
  MPSGraphPaddingStyle style;
};

static const Case kCases[] = {
    {2, 3, 2, {{5, 3, 2, 1, 1, 0}, {6, 2, 1, 2, 2, 1}}, MPSGraphPaddingStyleExplicit},
    {1, 3, 1, {{6, 2, 1, 3}, {5, 3, 2, 1}}, MPSGraphPaddingStyleTF_VALID},
    {2, 2, 3, {{5, 2, 2}, {4, 3}}, MPSGraphPaddingStyleTF_SAME},
    {1, 17, 1, {{4, 2}, {5, 4, 3}}, MPSGraphPaddingStyleONNX_SAME_LOWER},
};

static std::vector<Along> padded(std::vector<Along> axes, MPSGraphPaddingStyle style) {
  for (Along& axis : axes) {
    if (style == MPSGraphPaddingStyleTF_SAME) axis = same(axis);
    if (style == MPSGraphPaddingStyleONNX_SAME_LOWER) axis = same(axis, true);
  }
  return axes;
}

static MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor(const Case& c, Layout data, Layout weights) {
  const Along &y = c.axes.at(0), &x = c.axes.at(1);
  return [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                                   strideInY:unsign(y.stride)
                                                             dilationRateInX:unsign(x.dilation)
                                                             dilationRateInY:unsign(y.dilation)
                                                                 paddingLeft:unsign(x.before)
                                                                paddingRight:unsign(x.after)
                                                                  paddingTop:unsign(y.before)
                                                               paddingBottom:unsign(y.after)
                                                                paddingStyle:c.style
                                                                  dataLayout:data
                                                               weightsLayout:weights];
}

// What is computed, and the two gradients for an incoming one.
struct Values {
  Array x, w, dy, y, dx, dw;
};

static Values by_loops(long batch, long channels, long filters, const std::vector<Along>& axes) {
  Shape extents, kernel, windows;
  for (const Along& axis : axes) {
    extents.push_back(axis.extent);
    kernel.push_back(axis.kernel);
    windows.push_back(axis.windows());
  }
  Values v;
  v.x = random_array(joined({batch}, extents, {channels}));
  v.w = random_array(joined(kernel, {channels, filters}));
  v.dy = random_array(joined({batch}, windows, {channels * filters}));
  v.y = Array(v.dy.shape);
  v.dx = Array(v.x.shape);
  v.dw = Array(v.w.shape);
  for (long n = 0; n < batch; ++n) {
    for_each_seen(axes, [&](const Index& window, const Index& place, const Index& tap) {
      for_each_index({channels, filters}, [&](const Index& k) {
        const Index ix = joined({n}, place, {k.at(0)}), iw = joined(tap, k),
                    iy = joined({n}, window, {k.at(0) * filters + k.at(1)});
        v.y.at(iy) += v.x.at(ix) * v.w.at(iw);
        v.dx.at(ix) += v.dy.at(iy) * v.w.at(iw);
        v.dw.at(iw) += v.dy.at(iy) * v.x.at(ix);
      });
    });
  }
  return v;
}

static void check_2d(const Case& c, Layout data, Layout weights_layout) {
  const Values v = by_loops(c.batch, c.channels, c.filters, padded(c.axes, c.style));
  const auto in_data = [&](const Array& a) {
    return data == MPSGraphTensorNamedDataLayoutNCHW ? permuted(a, {0, 3, 1, 2}) : a;
  };
  const auto in_weights = [&](const Array& a) {
    return weights_layout == MPSGraphTensorNamedDataLayoutOIHW ? permuted(a, {3, 2, 0, 1}) : a;
  };
  const Array source = in_data(v.x), weights = in_weights(v.w), gradient = in_data(v.dy);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphDepthwiseConvolution2DOpDescriptor* d = descriptor(c, data, weights_layout);
  MPSGraphTensor *tx = session.feed(source), *tw = session.feed(weights), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run([g depthwiseConvolution2DWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
              in_data(v.y));
  CHECK_ARRAY(session.run([g depthwiseConvolution2DDataGradientWithIncomingGradientTensor:tdy
                                                                            weightsTensor:tw
                                                                              outputShape:numbers(source.shape)
                                                                               descriptor:d
                                                                                     name:nil]),
              in_data(v.dx));
  CHECK_ARRAY(session.run([g depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:tdy
                                                                                sourceTensor:tx
                                                                                 outputShape:numbers(weights.shape)
                                                                                  descriptor:d
                                                                                        name:nil]),
              in_weights(v.dw));
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph depthwiseConvolution2DWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
  };
  const Differentiated graph(build, {source, weights}, gradient);
  CHECK_ARRAY(graph.gradients.at(0), in_data(v.dx));
  CHECK_ARRAY(graph.gradients.at(1), in_weights(v.dw));
}

struct Case3d {
  std::vector<Along> axes;
  MPSGraphPaddingStyle style;
};

static const Case3d kCases3d[] = {
    {{{4, 2, 2, 1, 1, 0}, {3, 2, 1, 1, 0, 1}, {5, 3, 1, 2, 2, 1}}, MPSGraphPaddingStyleExplicit},
    {{{4, 2, 1, 2}, {5, 2, 2, 1}, {3, 3, 1, 1}}, MPSGraphPaddingStyleTF_VALID},
    {{{3, 2, 2}, {4, 3, 1}, {5, 2, 3}}, MPSGraphPaddingStyleTF_SAME},
};

static MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor(const Case3d& c, long channel_axis) {
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

// Channels from the end to another of the last four axes.
static Array moved(const Array& x, long channel_axis) {
  const long rank = static_cast<long>(x.shape.size());
  std::vector<long> order;
  for (long i = 0; i < rank - 1; ++i) order.push_back(i);
  order.insert(order.begin() + rank + channel_axis, rank - 1);
  return permuted(x, order);
}

static Array without(Array x, size_t axis) {
  x.shape.erase(x.shape.begin() + static_cast<long>(axis));
  return x;
}

static void check_3d(const Case3d& c, long channel_axis, long batch) {
  const Values v = by_loops(batch, 3, 1, padded(c.axes, c.style));
  const auto in_data = [&](const Array& a) { return moved(batch == 1 ? without(a, 0) : a, channel_axis); };
  const auto in_weights = [&](const Array& a) { return moved(without(a, 4), channel_axis); };
  const Array source = in_data(v.x), weights = in_weights(v.w), gradient = in_data(v.dy);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphDepthwiseConvolution3DOpDescriptor* d = descriptor(c, channel_axis);
  MPSGraphTensor *tx = session.feed(source), *tw = session.feed(weights), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run([g depthwiseConvolution3DWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
              in_data(v.y));
  const auto to_source = [&](MPSShape* shape) {
    return session.run([g depthwiseConvolution3DDataGradientWithIncomingGradientTensor:tdy
                                                                         weightsTensor:tw
                                                                           outputShape:shape
                                                                            descriptor:d
                                                                                  name:nil]);
  };
  CHECK_ARRAY(to_source(numbers(source.shape)), in_data(v.dx));
  CHECK_ARRAY(session.run([g depthwiseConvolution3DWeightsGradientWithIncomingGradientTensor:tdy
                                                                                sourceTensor:tx
                                                                                 outputShape:numbers(weights.shape)
                                                                                  descriptor:d
                                                                                        name:nil]),
              in_weights(v.dw));
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph depthwiseConvolution3DWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
  };
  const Differentiated graph(build, {source, weights}, gradient);
  CHECK_ARRAY(graph.gradients.at(0), in_data(v.dx));
  CHECK_ARRAY(graph.gradients.at(1), in_weights(v.dw));
}

// The smallest source with so many windows: for strides that leave nothing over, the one there was.
static void a_shape_that_is_not_given() {
  const Case3d c{{{4, 2, 2, 1, 1, 1}, {5, 3, 1}, {5, 2, 3}}, MPSGraphPaddingStyleExplicit};
  const Values v = by_loops(2, 3, 1, c.axes);
  Session session;
  MPSGraphTensor *tw = session.feed(moved(without(v.w, 4), -4)), *tdy = session.feed(moved(v.dy, -4));
  MPSGraphTensor* dx = [session.graph() depthwiseConvolution3DDataGradientWithIncomingGradientTensor:tdy
                                                                                       weightsTensor:tw
                                                                                         outputShape:nil
                                                                                          descriptor:descriptor(c, -4)
                                                                                                name:nil];
  CHECK_ARRAY(session.run(dx), moved(v.dx, -4));
}

static void descriptors_hold_their_fields() {
  MPSGraphDepthwiseConvolution2DOpDescriptor* d =
      descriptor({1, 1, 1, {{9, 1, 2, 3, 4, 5}, {9, 1, 6, 7, 8, 9}}, MPSGraphPaddingStyleTF_SAME},
                 MPSGraphTensorNamedDataLayoutNCHW, MPSGraphTensorNamedDataLayoutOIHW);
  MPSGraphDepthwiseConvolution2DOpDescriptor* copy = [[d copy] autorelease];
  [d setStrideInY:10];
  CHECK([d strideInY] == 10 && [copy strideInY] == 2 && [copy dilationRateInY] == 3 && [copy paddingTop] == 4);
  CHECK([copy paddingBottom] == 5 && [copy strideInX] == 6 && [copy dilationRateInX] == 7 && [copy paddingLeft] == 8);
  CHECK([copy paddingRight] == 9 && [copy paddingStyle] == MPSGraphPaddingStyleTF_SAME);
  CHECK([copy dataLayout] == MPSGraphTensorNamedDataLayoutNCHW);
  CHECK([copy weightsLayout] == MPSGraphTensorNamedDataLayoutOIHW);
  MPSGraphDepthwiseConvolution2DOpDescriptor* bare =
      [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithDataLayout:MPSGraphTensorNamedDataLayoutNCHW
                                                             weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  CHECK([bare strideInX] == 1 && [bare dilationRateInY] == 1 && [bare paddingLeft] == 0);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  [bare setPaddingStyle:MPSGraphPaddingStyleTF_VALID];
  [bare setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
  CHECK([bare paddingLeft] == 1 && [bare paddingRight] == 2 && [bare paddingTop] == 3 && [bare paddingBottom] == 4);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  [bare setStrideInX:11];
  [bare setDilationRateInX:12];
  [bare setDilationRateInY:13];
  [bare setPaddingLeft:14];
  [bare setPaddingRight:15];
  [bare setPaddingTop:16];
  [bare setPaddingBottom:17];
  [bare setDataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  [bare setWeightsLayout:MPSGraphTensorNamedDataLayoutOIHW];
  CHECK([bare strideInX] == 11 && [bare dilationRateInX] == 12 && [bare dilationRateInY] == 13);
  CHECK([bare paddingLeft] == 14 && [bare paddingRight] == 15 && [bare paddingTop] == 16 && [bare paddingBottom] == 17);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNHWC);
  CHECK([bare weightsLayout] == MPSGraphTensorNamedDataLayoutOIHW);

  MPSGraphDepthwiseConvolution3DOpDescriptor* volume =
      [MPSGraphDepthwiseConvolution3DOpDescriptor descriptorWithPaddingStyle:MPSGraphPaddingStyleTF_VALID];
  CHECK([volume paddingStyle] == MPSGraphPaddingStyleTF_VALID && [volume channelDimensionIndex] == -4);
  CHECK([[volume strides] isEqual:numbers({1, 1, 1})] && [[volume dilationRates] isEqual:numbers({1, 1, 1})]);
  CHECK([[volume paddingValues] isEqual:numbers({0, 0, 0, 0, 0, 0})]);
  [volume setStrides:numbers({1, 2, 3})];
  [volume setDilationRates:numbers({4, 5, 6})];
  [volume setPaddingValues:numbers({7, 8, 9, 10, 11, 12})];
  [volume setPaddingStyle:MPSGraphPaddingStyleExplicit];
  [volume setChannelDimensionIndex:-2];
  MPSGraphDepthwiseConvolution3DOpDescriptor* other = [[volume copy] autorelease];
  [volume setStrides:numbers({1, 1, 1})];
  CHECK([[other strides] isEqual:numbers({1, 2, 3})] && [[other dilationRates] isEqual:numbers({4, 5, 6})]);
  CHECK([[other paddingValues] isEqual:numbers({7, 8, 9, 10, 11, 12})] && [other channelDimensionIndex] == -2);
  CHECK([other paddingStyle] == MPSGraphPaddingStyleExplicit);
#ifndef __APPLE__
  CHECK_RAISES([volume setStrides:numbers({1, 2})]);
#endif
}

int main() {
  @autoreleasepool {
    for (const Case& c : kCases) {
      for (Layout data : {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutNCHW}) {
        for (Layout weights : {MPSGraphTensorNamedDataLayoutHWIO, MPSGraphTensorNamedDataLayoutOIHW}) {
          check_2d(c, data, weights);
        }
      }
    }
    for (const Case3d& c : kCases3d) {
      for (long channel_axis : {-4, -3, -2, -1}) {
        for (long batch : {1, 2}) check_3d(c, channel_axis, batch);
      }
    }
    a_shape_that_is_not_given();
    descriptors_hold_their_fields();
  }
  return check::summary();
}
