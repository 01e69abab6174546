// The elements of windows over images as columns, and back, against loops.

#ifdef __APPLE__
int main() { return 77; }  // the selectors are declared by SDKs from macOS 14 on
#else

#include "window_loops.h"

struct Case {
  long batch, channels;
  std::vector<Along> axes;  // height, width
};

static const Case kCases[] = {
    {2, 3, {{5, 3, 2, 1, 1, 0}, {6, 2, 1, 2, 2, 1}}},
    {1, 2, {{4, 2}, {5, 3}}},
    {1, 1, {{6, 2, 3, 2}, {3, 1}}},
};

static MPSGraphImToColOpDescriptor* descriptor(const Case& c, MPSGraphTensorNamedDataLayout layout) {
  const Along &y = c.axes.at(0), &x = c.axes.at(1);
  return [MPSGraphImToColOpDescriptor descriptorWithKernelWidth:unsign(x.kernel)
                                                   kernelHeight:unsign(y.kernel)
                                                      strideInX:unsign(x.stride)
                                                      strideInY:unsign(y.stride)
                                                dilationRateInX:unsign(x.dilation)
                                                dilationRateInY:unsign(y.dilation)
                                                    paddingLeft:unsign(x.before)
                                                   paddingRight:unsign(x.after)
                                                     paddingTop:unsign(y.before)
                                                  paddingBottom:unsign(y.after)
                                                     dataLayout:layout];
}

static void check_case(const Case& c, MPSGraphTensorNamedDataLayout layout) {
  const bool first = layout == MPSGraphTensorNamedDataLayoutNCHW;
  const Along &ay = c.axes.at(0), &ax = c.axes.at(1);
  const long windows = ay.windows() * ax.windows(), taps = ay.kernel * ax.kernel;
  const Array image = random_array({c.batch, ay.extent, ax.extent, c.channels});
  const Shape columns_shape =
      first ? Shape{c.batch, c.channels * taps, windows} : Shape{c.batch, windows, taps * c.channels};
  const Array other = random_array(columns_shape);
  Array columns(columns_shape), sums(image.shape);
  for_each_index({c.batch, c.channels}, [&](const Index& n) {
    for_each_seen(c.axes, [&](const Index& window, const Index& place, const Index& tap) {
      const long w = window.at(0) * ax.windows() + window.at(1), t = tap.at(0) * ax.kernel + tap.at(1);
      const Index from = joined({n.at(0)}, place, {n.at(1)});
      const Index to = first ? Index{n.at(0), n.at(1) * taps + t, w} : Index{n.at(0), w, t * c.channels + n.at(1)};
      columns.at(to) = image.at(from);
      sums.at(from) += other.at(to);
    });
  });
  const auto in_layout = [&](const Array& a) { return first ? permuted(a, {0, 3, 1, 2}) : a; };
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphImToColOpDescriptor* d = descriptor(c, layout);
  const Array source = in_layout(image);
  CHECK_ARRAY(session.run([g imToColWithSourceTensor:session.feed(source) descriptor:d name:nil]), columns);
  CHECK_ARRAY(session.run([g colToImWithSourceTensor:session.feed(other)
                                         outputShape:numbers(source.shape)
                                          descriptor:d
                                                name:nil]),
              in_layout(sums));
  const Build forward = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph imToColWithSourceTensor:t.at(0) descriptor:d name:nil];
  };
  CHECK_ARRAY(Differentiated(forward, {source}, other).gradients.at(0), in_layout(sums));
  const Build back = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph colToImWithSourceTensor:t.at(0) outputShape:numbers(source.shape) descriptor:d name:nil];
  };
  CHECK_ARRAY(Differentiated(back, {other}, source).gradients.at(0), columns);
}

static void descriptors_hold_their_fields() {
  MPSGraphImToColOpDescriptor* d =
      descriptor({1, 1, {{9, 2, 3, 4, 5, 6}, {9, 7, 8, 9, 10, 11}}}, MPSGraphTensorNamedDataLayoutNCHW);
  MPSGraphImToColOpDescriptor* copy = [[d copy] autorelease];
  [d setKernelHeight:20];
  CHECK([d kernelHeight] == 20 && [copy kernelHeight] == 2 && [copy strideInY] == 3 && [copy dilationRateInY] == 4);
  CHECK([copy paddingTop] == 5 && [copy paddingBottom] == 6 && [copy kernelWidth] == 7 && [copy strideInX] == 8);
  CHECK([copy dilationRateInX] == 9 && [copy paddingLeft] == 10 && [copy paddingRight] == 11);
  CHECK([copy dataLayout] == MPSGraphTensorNamedDataLayoutNCHW);
  MPSGraphImToColOpDescriptor* bare =
      [MPSGraphImToColOpDescriptor descriptorWithKernelWidth:2
                                                kernelHeight:3
                                                   strideInX:4
                                                   strideInY:5
                                             dilationRateInX:6
                                             dilationRateInY:7
                                                  dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  CHECK([bare kernelWidth] == 2 && [bare strideInY] == 5 && [bare dilationRateInX] == 6 && [bare paddingTop] == 0);
  [bare setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
  CHECK([bare paddingLeft] == 1 && [bare paddingRight] == 2 && [bare paddingTop] == 3 && [bare paddingBottom] == 4);
  [bare setKernelWidth:11];
  [bare setStrideInX:12];
  [bare setStrideInY:13];
  [bare setDilationRateInX:14];
  [bare setDilationRateInY:15];
  [bare setPaddingLeft:16];
  [bare setPaddingRight:17];
  [bare setPaddingTop:18];
  [bare setPaddingBottom:19];
  [bare setDataLayout:MPSGraphTensorNamedDataLayoutNCHW];
  CHECK([bare kernelWidth] == 11 && [bare strideInX] == 12 && [bare strideInY] == 13 && [bare dilationRateInX] == 14);
  CHECK([bare dilationRateInY] == 15 && [bare paddingLeft] == 16 && [bare paddingRight] == 17);
  CHECK([bare paddingTop] == 18 && [bare paddingBottom] == 19);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNCHW);
}

int main() {
  @autoreleasepool {
    if (![MPSGraph instancesRespondToSelector:@selector(imToColWithSourceTensor:descriptor:name:)]) return 77;
    for (const Case& c : kCases) {
      check_case(c, MPSGraphTensorNamedDataLayoutNCHW);
      check_case(c, MPSGraphTensorNamedDataLayoutNHWC);
    }
    descriptors_hold_their_fields();
  }
  return check::summary();
}

#endif
