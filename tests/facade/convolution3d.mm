// Convolution of volumes, its two gradient ops and its derivatives, in every layout, against loops.

#include "window_loops.h"

using Layout = MPSGraphTensorNamedDataLayout;

struct Case {
  long batch, channels, filters, groups;
  std::vector<Along> axes;  // depth, height, width
  MPSGraphPaddingStyle style;
};

static const Case kCases[] = {
    // everything differs from everything, and one more of any padding makes another window
    {2, 3, 4, 1, {{6, 2, 2, 1, 1, 0}, {4, 3, 1, 1, 2, 1}, {8, 2, 3, 2, 0, 3}}, MPSGraphPaddingStyleExplicit},
    {1, 2, 3, 1, {{4, 2, 1, 2}, {5, 3, 2, 1}, {6, 2, 1, 3}}, MPSGraphPaddingStyleTF_VALID},
    {2, 2, 2, 1, {{3, 2, 2}, {5, 2, 1}, {4, 3, 3}}, MPSGraphPaddingStyleTF_SAME},
    {1, 2, 2, 1, {{4, 2}, {5, 4}, {3, 3, 2}}, MPSGraphPaddingStyleONNX_SAME_LOWER},
    {1, 4, 6, 2, {{3, 2}, {4, 2, 2}, {4, 3}}, MPSGraphPaddingStyleTF_VALID},
};

static std::vector<Along> axes_of(const Case& c) {
  std::vector<Along> axes = c.axes;
  for (Along& axis : axes) {
    if (c.style == MPSGraphPaddingStyleTF_SAME) axis = same(axis);
    if (c.style == MPSGraphPaddingStyleONNX_SAME_LOWER) axis = same(axis, true);
  }
  return axes;
}

static MPSGraphConvolution3DOpDescriptor* descriptor(const Case& c, Layout data, Layout weights) {
  const Along &z = c.axes.at(0), &y = c.axes.at(1), &x = c.axes.at(2);
  return [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
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
                                                      weightsLayout:weights];
}

static Array in_data_layout(const Array& x, Layout layout) {
  return layout == MPSGraphTensorNamedDataLayoutNCDHW ? permuted(x, {0, 4, 1, 2, 3}) : x;
}

static Array in_weights_layout(const Array& w, Layout layout) {
  return layout == MPSGraphTensorNamedDataLayoutOIDHW ? permuted(w, {4, 3, 0, 1, 2}) : w;
}

// What is computed, and the two gradients for an incoming one, in NDHWC and DHWIO.
struct Values {
  Array x, w, dy, y, dx, dw;
};

static Values by_loops(const Case& c) {
  const std::vector<Along> axes = axes_of(c);
  Shape extents, kernel, windows;
  for (const Along& axis : axes) {
    extents.push_back(axis.extent);
    kernel.push_back(axis.kernel);
    windows.push_back(axis.windows());
  }
  const long in = c.channels / c.groups, out = c.filters / c.groups;
  Values v;
  v.x = random_array(joined({c.batch}, extents, {c.channels}));
  v.w = random_array(joined(kernel, {in, c.filters}));
  v.dy = random_array(joined({c.batch}, windows, {c.filters}));
  v.y = Array(v.dy.shape);
  v.dx = Array(v.x.shape);
  v.dw = Array(v.w.shape);
  for (long n = 0; n < c.batch; ++n) {
    for_each_seen(axes, [&](const Index& window, const Index& place, const Index& tap) {
      for_each_index({c.groups, in, out}, [&](const Index& k) {
        const long filter = k.at(0) * out + k.at(2);
        const Index ix = joined({n}, place, {k.at(0) * in + k.at(1)}), iw = joined(tap, {k.at(1), filter}),
                    iy = joined({n}, window, {filter});
        v.y.at(iy) += v.x.at(ix) * v.w.at(iw);
        v.dx.at(ix) += v.dy.at(iy) * v.w.at(iw);
        v.dw.at(iw) += v.dy.at(iy) * v.x.at(ix);
      });
    });
  }
  return v;
}

static void check_case(const Case& c, Layout data, Layout weights_layout) {
  const Values v = by_loops(c);
  const Array source = in_data_layout(v.x, data), weights = in_weights_layout(v.w, weights_layout),
              gradient = in_data_layout(v.dy, data), to_source = in_data_layout(v.dx, data),
              to_weights = in_weights_layout(v.dw, weights_layout);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphConvolution3DOpDescriptor* d = descriptor(c, data, weights_layout);
  MPSGraphTensor *tx = session.feed(source), *tw = session.feed(weights), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run([g convolution3DWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
              in_data_layout(v.y, data));
  CHECK_ARRAY(session.run([g convolution3DDataGradientWithIncomingGradientTensor:tdy
                                                                   weightsTensor:tw
                                                                     outputShape:numbers(source.shape)
                                                    forwardConvolutionDescriptor:d
                                                                            name:nil]),
              to_source);
  CHECK_ARRAY(session.run([g convolution3DDataGradientWithIncomingGradientTensor:tdy
                                                                   weightsTensor:tw
                                                               outputShapeTensor:shape_constant(g, source.shape)
                                                    forwardConvolutionDescriptor:d
                                                                            name:nil]),
              to_source);
  CHECK_ARRAY(session.run([g convolution3DWeightsGradientWithIncomingGradientTensor:tdy
                                                                       sourceTensor:tx
                                                                        outputShape:numbers(weights.shape)
                                                       forwardConvolutionDescriptor:d
                                                                               name:nil]),
              to_weights);
  CHECK_ARRAY(session.run([g convolution3DWeightsGradientWithIncomingGradientTensor:tdy
                                                                       sourceTensor:tx
                                                                  outputShapeTensor:shape_constant(g, weights.shape)
                                                       forwardConvolutionDescriptor:d
                                                                               name:nil]),
              to_weights);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph convolution3DWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
  };
  const Differentiated graph(build, {source, weights}, gradient);
  CHECK_ARRAY(graph.gradients.at(0), to_source);
  CHECK_ARRAY(graph.gradients.at(1), to_weights);
}

static void descriptors_hold_their_fields() {
  MPSGraphConvolution3DOpDescriptor* d =
      [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:2
                                                       strideInY:3
                                                       strideInZ:4
                                                 dilationRateInX:5
                                                 dilationRateInY:6
                                                 dilationRateInZ:7
                                                          groups:8
                                                     paddingLeft:9
                                                    paddingRight:10
                                                      paddingTop:11
                                                   paddingBottom:12
                                                    paddingFront:13
                                                     paddingBack:14
                                                    paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNCDHW
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutOIDHW];
  MPSGraphConvolution3DOpDescriptor* copy = [[d copy] autorelease];
  [d setStrideInZ:20];
  CHECK([d strideInZ] == 20 && [copy strideInZ] == 4);
  CHECK([copy strideInX] == 2 && [copy strideInY] == 3 && [copy dilationRateInX] == 5 && [copy dilationRateInY] == 6);
  CHECK([copy dilationRateInZ] == 7 && [copy groups] == 8 && [copy paddingLeft] == 9 && [copy paddingRight] == 10);
  CHECK([copy paddingTop] == 11 && [copy paddingBottom] == 12 && [copy paddingFront] == 13 && [copy paddingBack] == 14);
  CHECK([copy paddingStyle] == MPSGraphPaddingStyleTF_SAME);
  CHECK([copy dataLayout] == MPSGraphTensorNamedDataLayoutNCDHW);
  CHECK([copy weightsLayout] == MPSGraphTensorNamedDataLayoutOIDHW);
}

static void padding_and_setters() {
  MPSGraphConvolution3DOpDescriptor* bare =
      [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:2
                                                       strideInY:3
                                                       strideInZ:4
                                                 dilationRateInX:5
                                                 dilationRateInY:6
                                                 dilationRateInZ:7
                                                          groups:8
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNDHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutDHWIO];
  CHECK([bare strideInZ] == 4 && [bare dilationRateInZ] == 7 && [bare groups] == 8 && [bare paddingFront] == 0);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleTF_VALID);
  [bare setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4 paddingFront:5 paddingBack:6];
  CHECK([bare paddingLeft] == 1 && [bare paddingRight] == 2 && [bare paddingTop] == 3 && [bare paddingBottom] == 4);
  CHECK([bare paddingFront] == 5 && [bare paddingBack] == 6 && [bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  [bare setStrideInX:31];
  [bare setStrideInY:32];
  [bare setDilationRateInX:33];
  [bare setDilationRateInY:34];
  [bare setDilationRateInZ:35];
  [bare setGroups:36];
  [bare setPaddingLeft:37];
  [bare setPaddingRight:38];
  [bare setPaddingTop:39];
  [bare setPaddingBottom:40];
  [bare setPaddingFront:41];
  [bare setPaddingBack:42];
  [bare setPaddingStyle:MPSGraphPaddingStyleONNX_SAME_LOWER];
  [bare setDataLayout:MPSGraphTensorNamedDataLayoutNCDHW];
  [bare setWeightsLayout:MPSGraphTensorNamedDataLayoutOIDHW];
  CHECK([bare strideInX] == 31 && [bare strideInY] == 32 && [bare dilationRateInX] == 33);
  CHECK([bare dilationRateInY] == 34 && [bare dilationRateInZ] == 35 && [bare groups] == 36);
  CHECK([bare paddingLeft] == 37 && [bare paddingRight] == 38 && [bare paddingTop] == 39 && [bare paddingBottom] == 40);
  CHECK([bare paddingFront] == 41 && [bare paddingBack] == 42);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleONNX_SAME_LOWER);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNCDHW);
  CHECK([bare weightsLayout] == MPSGraphTensorNamedDataLayoutOIDHW);
}

int main() {
  @autoreleasepool {
    for (const Case& c : kCases) {
      for (Layout data : {MPSGraphTensorNamedDataLayoutNDHWC, MPSGraphTensorNamedDataLayoutNCDHW}) {
        for (Layout weights : {MPSGraphTensorNamedDataLayoutDHWIO, MPSGraphTensorNamedDataLayoutOIDHW}) {
          @autoreleasepool {
            check_case(c, data, weights);
          }
        }
      }
    }
    descriptors_hold_their_fields();
    padding_and_setters();
  }
  return check::summary();
}
