// The elements of windows over images as columns, and back, against loops.

#include "window_loops.h"

#ifndef __APPLE__  // the selectors are declared by SDKs from macOS 14 on

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
}

TEST(columns) {
  SKIP_UNLESS([MPSGraph instancesRespondToSelector:@selector(imToColWithSourceTensor:descriptor:name:)]);
  for (const Case& c : kCases) {
    check_case(c, MPSGraphTensorNamedDataLayoutNCHW);
    check_case(c, MPSGraphTensorNamedDataLayoutNHWC);
  }
}

#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
