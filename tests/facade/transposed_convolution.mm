// Transposed convolution, its two gradient ops and its derivatives, in every layout, against loops.

#include "window_loops.h"

using Layout = MPSGraphTensorNamedDataLayout;

struct Case {
  long batch, channels, filters, groups;  // of the source, and of the result
  std::vector<Along> axes;                // height and width of the result: windows over it make the source
  MPSGraphPaddingStyle style;
};

static const Case kCases[] = {
    {2, 4, 3, 1, {{5, 3, 2, 1, 1, 0}, {7, 2, 1, 2, 2, 1}}, MPSGraphPaddingStyleExplicit},
    // two sizes of the result belong to one of the source
    {1, 3, 2, 1, {{7, 3, 2}, {6, 2, 3}}, MPSGraphPaddingStyleTF_VALID},
    {1, 3, 2, 1, {{8, 3, 2}, {7, 2, 3}}, MPSGraphPaddingStyleTF_VALID},
    {2, 2, 3, 1, {{5, 2, 2}, {4, 3, 1}}, MPSGraphPaddingStyleTF_SAME},
    {1, 2, 2, 1, {{4, 2, 3}, {5, 4, 1}}, MPSGraphPaddingStyleONNX_SAME_LOWER},
    {1, 6, 4, 2, {{5, 3, 2}, {4, 2, 1}}, MPSGraphPaddingStyleTF_VALID},
};

// What is computed, and the two gradients for an incoming one, in NHWC and HWIO.
struct Values {
  Array x, w, dy, y, dx, dw;
};

static Values by_loops(const Case& c) {
  std::vector<Along> axes = c.axes;
  for (Along& axis : axes) {
    if (c.style == MPSGraphPaddingStyleTF_SAME) axis = same(axis);
    if (c.style == MPSGraphPaddingStyleONNX_SAME_LOWER) axis = same(axis, true);
  }
  const long in = c.channels / c.groups, out = c.filters / c.groups;
  Values v;
  v.x = random_array({c.batch, axes.at(0).windows(), axes.at(1).windows(), c.channels});
  v.w = random_array({axes.at(0).kernel, axes.at(1).kernel, out, c.channels});
  v.dy = random_array({c.batch, axes.at(0).extent, axes.at(1).extent, c.filters});
  v.y = Array(v.dy.shape);
  v.dx = Array(v.x.shape);
  v.dw = Array(v.w.shape);
  for (long n = 0; n < c.batch; ++n) {
    for_each_seen(axes, [&](const Index& window, const Index& place, const Index& tap) {
      for_each_index({c.groups, in, out}, [&](const Index& k) {
        const long channel = k.at(0) * in + k.at(1);
        const Index ix = joined({n}, window, {channel}), iw = joined(tap, {k.at(2), channel}),
                    iy = joined({n}, place, {k.at(0) * out + k.at(2)});
        v.y.at(iy) += v.x.at(ix) * v.w.at(iw);
        v.dx.at(ix) += v.dy.at(iy) * v.w.at(iw);
        v.dw.at(iw) += v.dy.at(iy) * v.x.at(ix);
      });
    });
  }
  return v;
}

static MPSGraphConvolution2DOpDescriptor* descriptor(const Case& c, Layout data, Layout weights) {
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

static void check_case(const Case& c, Layout data, Layout weights_layout) {
  const Values v = by_loops(c);
  const auto in_data = [&](const Array& a) {
    return data == MPSGraphTensorNamedDataLayoutNCHW ? permuted(a, {0, 3, 1, 2}) : a;
  };
  const auto in_weights = [&](const Array& a) {
    return weights_layout == MPSGraphTensorNamedDataLayoutOIHW ? permuted(a, {3, 2, 0, 1}) : a;
  };
  MPSGraphConvolution2DOpDescriptor* d = descriptor(c, data, weights_layout);
  const Array source = in_data(v.x), weights = in_weights(v.w), gradient = in_data(v.dy);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(source), *tw = session.feed(weights), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run([g convolutionTranspose2DWithSourceTensor:tx
                                                      weightsTensor:tw
                                                        outputShape:numbers(gradient.shape)
                                                         descriptor:d
                                                               name:nil]),
              in_data(v.y));
  CHECK_ARRAY(session.run([g convolutionTranspose2DWithSourceTensor:tx
                                                      weightsTensor:tw
                                                  outputShapeTensor:shape_constant(g, gradient.shape)
                                                         descriptor:d
                                                               name:nil]),
              in_data(v.y));
  CHECK_ARRAY(session.run([g convolutionTranspose2DDataGradientWithIncomingGradientTensor:tdy
                                                                            weightsTensor:tw
                                                                              outputShape:numbers(source.shape)
                                                             forwardConvolutionDescriptor:d
                                                                                     name:nil]),
              in_data(v.dx));
  CHECK_ARRAY(session.run([g convolutionTranspose2DDataGradientWithIncomingGradientTensor:tdy
                                                                            weightsTensor:tw
                                                                        outputShapeTensor:[g shapeOfTensor:tx name:nil]
                                                             forwardConvolutionDescriptor:d
                                                                                     name:nil]),
              in_data(v.dx));
  CHECK_ARRAY(session.run([g convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:tdy
                                                                                sourceTensor:tx
                                                                                 outputShape:numbers(weights.shape)
                                                                forwardConvolutionDescriptor:d
                                                                                        name:nil]),
              in_weights(v.dw));
  MPSGraphTensor* shape = shape_constant(g, weights.shape);
  CHECK_ARRAY(session.run([g convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:tdy
                                                                                sourceTensor:tx
                                                                           outputShapeTensor:shape
                                                                forwardConvolutionDescriptor:d
                                                                                        name:nil]),
              in_weights(v.dw));
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph convolutionTranspose2DWithSourceTensor:t.at(0)
                                           weightsTensor:t.at(1)
                                             outputShape:numbers(gradient.shape)
                                              descriptor:d
                                                    name:nil];
  };
  const Differentiated graph(build, {source, weights}, gradient);
  CHECK_ARRAY(graph.gradients.at(0), in_data(v.dx));
  CHECK_ARRAY(graph.gradients.at(1), in_weights(v.dw));
}

#ifndef __APPLE__
static void shapes_that_do_not_belong_together() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphConvolution2DOpDescriptor* d =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                       strideInY:1
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:1
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
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
}
#endif

int main() {
  @autoreleasepool {
    for (const Case& c : kCases) {
      for (Layout data : {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutNCHW}) {
        for (Layout weights : {MPSGraphTensorNamedDataLayoutHWIO, MPSGraphTensorNamedDataLayoutOIHW}) {
          check_case(c, data, weights);
        }
      }
    }
#ifndef __APPLE__
    shapes_that_do_not_belong_together();
#endif
  }
  return check::summary();
}
