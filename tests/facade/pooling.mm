// Two-dimensional pooling, its gradient ops and its derivatives, in both layouts, against loops.

#include "graph_testing.h"

using Layout = MPSGraphTensorNamedDataLayout;

struct Case {
  long batch, height, width, channels;
  long kernel_height, kernel_width;
  long stride_x, stride_y, dilation_x, dilation_y;
  long left, right, top, bottom;
  MPSGraphPaddingStyle style;
  bool rounds_up;       // ceilMode
  bool counts_padding;  // includeZeroPadToAverage
};

static const Case kCases[] = {
    {2, 7, 9, 3, 3, 2, 2, 1, 1, 1, 1, 0, 2, 1, MPSGraphPaddingStyleExplicit, false, false},
    {2, 7, 9, 3, 3, 2, 2, 1, 1, 1, 1, 0, 2, 1, MPSGraphPaddingStyleExplicit, false, true},
    {1, 8, 6, 2, 2, 3, 3, 2, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID, false, false},
    {1, 5, 8, 2, 2, 3, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME, false, false},
    {1, 5, 8, 2, 2, 3, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME, false, true},
    {2, 7, 6, 5, 3, 4, 2, 2, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_SAME, false, false},
    {1, 6, 7, 2, 2, 4, 2, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleONNX_SAME_LOWER, false, false},
    {1, 9, 11, 2, 3, 2, 1, 2, 4, 2, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID, false, false},
    {1, 8, 9, 2, 2, 3, 2, 1, 2, 3, 2, 1, 1, 2, MPSGraphPaddingStyleExplicit, false, true},
    // the last window reaches beyond the source
    {1, 6, 8, 2, 3, 3, 3, 2, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleExplicit, true, false},
    {1, 7, 8, 2, 2, 3, 2, 2, 1, 1, 1, 0, 0, 0, MPSGraphPaddingStyleExplicit, true, false},
    {1, 8, 8, 17, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID, false, false},
    {3, 1, 5, 2, 1, 5, 1, 1, 1, 1, 0, 0, 0, 0, MPSGraphPaddingStyleTF_VALID, false, false},
};

struct Axis {
  long length, before;
};

static Axis axis_of(const Case& c, long in, long kernel, long stride, long dilation, long before, long after) {
  const long reach = (kernel - 1) * dilation + 1, up = c.rounds_up ? stride - 1 : 0;
  if (c.style == MPSGraphPaddingStyleExplicit) return {(in + before + after - reach + up) / stride + 1, before};
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
static Shape result_shape(const Case& c) { return {c.batch, height_of(c).length, width_of(c).length, c.channels}; }

// The elements of the source in the window of a result, in window order.
static std::vector<Index> window(const Case& c, const Index& r) {
  std::vector<Index> elements;
  for_each_index({c.kernel_height, c.kernel_width}, [&](const Index& k) {
    const long y = r.at(1) * c.stride_y + k.at(0) * c.dilation_y - height_of(c).before;
    const long x = r.at(2) * c.stride_x + k.at(1) * c.dilation_x - width_of(c).before;
    if (y >= 0 && y < c.height && x >= 0 && x < c.width) elements.push_back({r.at(0), y, x, r.at(3)});
  });
  return elements;
}

static double divisor(const Case& c, const Index& r) {
  return c.counts_padding ? static_cast<double>(c.kernel_height * c.kernel_width)
                          : static_cast<double>(window(c, r).size());
}

static Index first_greatest(const Case& c, const Array& x, const Index& r) {
  const std::vector<Index> elements = window(c, r);
  Index best = elements.front();
  for (const Index& e : elements) best = x.at(e) > x.at(best) ? e : best;
  return best;
}

// Of one image the batch may be left out.
static Array in_layout(const Array& nhwc, Layout layout, bool has_batch) {
  Array array = layout == MPSGraphTensorNamedDataLayoutNCHW ? permuted(nhwc, {0, 3, 1, 2}) : nhwc;
  if (!has_batch) array.shape.erase(array.shape.begin());
  return array;
}

static NSUInteger unsign(long value) { return static_cast<NSUInteger>(value); }

static MPSGraphPooling2DOpDescriptor* descriptor(const Case& c, Layout layout) {
  MPSGraphPooling2DOpDescriptor* d = [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:unsign(c.kernel_width)
                                                                                 kernelHeight:unsign(c.kernel_height)
                                                                                    strideInX:unsign(c.stride_x)
                                                                                    strideInY:unsign(c.stride_y)
                                                                              dilationRateInX:unsign(c.dilation_x)
                                                                              dilationRateInY:unsign(c.dilation_y)
                                                                                  paddingLeft:unsign(c.left)
                                                                                 paddingRight:unsign(c.right)
                                                                                   paddingTop:unsign(c.top)
                                                                                paddingBottom:unsign(c.bottom)
                                                                                 paddingStyle:c.style
                                                                                   dataLayout:layout];
  [d setCeilMode:c.rounds_up];
  [d setIncludeZeroPadToAverage:c.counts_padding];
  return d;
}

static MPSGraphTensor* pooled(MPSGraph* g, bool takes_greatest, MPSGraphTensor* x, MPSGraphPooling2DOpDescriptor* d) {
  return takes_greatest ? [g maxPooling2DWithSourceTensor:x descriptor:d name:nil]
                        : [g avgPooling2DWithSourceTensor:x descriptor:d name:nil];
}

static void check_case(const Case& c, Layout layout, bool takes_greatest, const Array& x, bool has_batch = true) {
  if (has_batch && c.batch == 1) check_case(c, layout, takes_greatest, x, false);
  const Array dy = random_array(result_shape(c), 0.5, 2);
  Array y(dy.shape), dx(x.shape);
  for_each_index(y.shape, [&](const Index& r) {
    if (takes_greatest) {
      const Index best = first_greatest(c, x, r);
      y.at(r) = x.at(best);
      dx.at(best) += dy.at(r);
      return;
    }
    for (const Index& e : window(c, r)) {
      y.at(r) += x.at(e) / divisor(c, r);
      dx.at(e) += dy.at(r) / divisor(c, r);
    }
  });
  const Array source = in_layout(x, layout, has_batch), gradient = in_layout(dy, layout, has_batch),
              to_source = in_layout(dx, layout, has_batch);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphPooling2DOpDescriptor* d = descriptor(c, layout);
  MPSGraphTensor *tx = session.feed(source), *tdy = session.feed(gradient);
  CHECK_ARRAY(session.run(pooled(g, takes_greatest, tx, d)), in_layout(y, layout, has_batch));
  MPSGraphTensor* tdx = takes_greatest
                            ? [g maxPooling2DGradientWithGradientTensor:tdy sourceTensor:tx descriptor:d name:nil]
                            : [g avgPooling2DGradientWithGradientTensor:tdy sourceTensor:tx descriptor:d name:nil];
  CHECK_ARRAY(session.run(tdx), to_source);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return pooled(graph, takes_greatest, t.at(0), d);
  };
  CHECK_ARRAY(Differentiated(build, {source}, gradient).gradients.at(0), to_source);
}

static void values_and_gradients() {
  for (const Case& c : kCases) {
    for (Layout layout : {MPSGraphTensorNamedDataLayoutNHWC, MPSGraphTensorNamedDataLayoutNCHW}) {
      @autoreleasepool {
        check_case(c, layout, false, random_array(source_shape(c)));
        check_case(c, layout, true, random_array(source_shape(c)));
        // Everything below 0: padding must not win.
        check_case(c, layout, true, random_array(source_shape(c), -9, -5));
#ifndef __APPLE__
        // Full of ties, which our choice gives to the first in window order.
        check_case(c, layout, true, random_integers(source_shape(c), -1, 1, MPSDataTypeFloat32));
#endif
      }
    }
  }
}

static void finite_differences() {
  for (const Case& c : kCases) {
    MPSGraphPooling2DOpDescriptor* d = descriptor(c, MPSGraphTensorNamedDataLayoutNHWC);
    for (bool takes_greatest : {true, false}) {
      const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return pooled(g, takes_greatest, t.at(0), d);
      };
      CHECK_GRADIENTS(build, {distinct_array(source_shape(c))});
    }
  }
}

static void descriptors_hold_their_fields() {
  MPSGraphPooling2DOpDescriptor* d =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:3
                                                     strideInX:4
                                                     strideInY:5
                                               dilationRateInX:6
                                               dilationRateInY:7
                                                   paddingLeft:8
                                                  paddingRight:9
                                                    paddingTop:10
                                                 paddingBottom:11
                                                  paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNCHW];
  CHECK([d ceilMode] == NO && [d includeZeroPadToAverage] == NO);
  [d setCeilMode:YES];
  [d setIncludeZeroPadToAverage:YES];
  MPSGraphPooling2DOpDescriptor* copy = [[d copy] autorelease];
  CHECK(copy != d);
  [d setKernelWidth:1];
  CHECK([d kernelWidth] == 1);
  CHECK([copy kernelWidth] == 2 && [copy kernelHeight] == 3 && [copy strideInX] == 4 && [copy strideInY] == 5);
  CHECK([copy dilationRateInX] == 6 && [copy dilationRateInY] == 7 && [copy paddingLeft] == 8 &&
        [copy paddingRight] == 9);
  CHECK([copy paddingTop] == 10 && [copy paddingBottom] == 11 && [copy paddingStyle] == MPSGraphPaddingStyleTF_SAME);
  CHECK([copy dataLayout] == MPSGraphTensorNamedDataLayoutNCHW && [copy ceilMode] == YES);
  CHECK([copy includeZeroPadToAverage] == YES);

  MPSGraphPooling2DOpDescriptor* bare =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:3
                                                     strideInX:4
                                                     strideInY:5
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  CHECK([bare kernelWidth] == 2 && [bare kernelHeight] == 3 && [bare strideInX] == 4 && [bare strideInY] == 5);
  CHECK([bare dilationRateInX] == 1 && [bare dilationRateInY] == 1 && [bare paddingLeft] == 0 &&
        [bare paddingRight] == 0);
  CHECK([bare paddingTop] == 0 && [bare paddingBottom] == 0 && [bare paddingStyle] == MPSGraphPaddingStyleTF_VALID);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNHWC);
  [bare setExplicitPaddingWithPaddingLeft:1 paddingRight:2 paddingTop:3 paddingBottom:4];
  CHECK([bare paddingLeft] == 1 && [bare paddingRight] == 2 && [bare paddingTop] == 3 && [bare paddingBottom] == 4);
  CHECK([bare paddingStyle] == MPSGraphPaddingStyleExplicit);
  [bare setKernelHeight:12];
  [bare setStrideInX:13];
  [bare setStrideInY:14];
  [bare setDilationRateInX:15];
  [bare setDilationRateInY:16];
  [bare setPaddingLeft:17];
  [bare setPaddingRight:18];
  [bare setPaddingTop:19];
  [bare setPaddingBottom:20];
  [bare setPaddingStyle:MPSGraphPaddingStyleONNX_SAME_LOWER];
  [bare setDataLayout:MPSGraphTensorNamedDataLayoutNCHW];
  CHECK([bare kernelHeight] == 12 && [bare strideInX] == 13 && [bare strideInY] == 14 && [bare dilationRateInX] == 15);
  CHECK([bare dilationRateInY] == 16 && [bare paddingLeft] == 17 && [bare paddingRight] == 18 &&
        [bare paddingTop] == 19);
  CHECK([bare paddingBottom] == 20 && [bare paddingStyle] == MPSGraphPaddingStyleONNX_SAME_LOWER);
  CHECK([bare dataLayout] == MPSGraphTensorNamedDataLayoutNCHW);
}

int main() {
  @autoreleasepool {
    values_and_gradients();
    finite_differences();
    descriptors_hold_their_fields();
  }
  return check::summary();
}
