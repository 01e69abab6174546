// Convolutions and their gradients.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

struct Convolution {
  Shape source, weights;  // in NHWC and HWIO order
  Dims strides{1, 1}, dilations{1, 1}, padding{0, 0, 0, 0};
  std::string style = "explicit";
  int64_t groups = 1;

  Attributes attributes(const std::string& data, const std::string& kernel) const {
    Attributes given = convolution(style, groups);
    given.set(Attr::kStrides, strides);
    given.set(Attr::kDilations, dilations);
    given.set(Attr::kPadding, padding);
    given.set(Attr::kDataLayout, data);
    given.set(Attr::kWeightsLayout, kernel);
    return given;
  }

  // Zeros before an axis of the image (0 is the height): worked out from TensorFlow's definition, not by the code under
  // test.
  int64_t zeros_before(size_t axis) const {
    const int64_t in = source.dims()[axis + 1], extent = (weights.dims()[axis] - 1) * dilations[axis] + 1;
    const int64_t total =
        std::max<int64_t>(((in + strides[axis] - 1) / strides[axis] - 1) * strides[axis] + extent - in, 0);
    return style == "explicit" ? padding[2 * axis]
           : style == "valid"  ? 0
           : style == "same"   ? total / 2
                               : total - total / 2;
  }
};

// How far apart neighbours along N, H, W and C, or along H, W, I and O, lie.
Dims steps_of_data(const Tensor& t, const std::string& layout) {
  const Dims s = strides_of(t.type.shape);
  return layout == "NHWC" ? s : Dims{s[0], s[2], s[3], s[1]};
}
Dims steps_of_weights(const Tensor& t, const std::string& layout) {
  const Dims s = strides_of(t.type.shape);
  return layout == "HWIO" ? s : Dims{s[2], s[3], s[1], s[0]};
}

// Every element's sum, and that of the sizes of its terms, which bounds what rounding may do.
struct Sums {
  explicit Sums(const Tensor& of) : value(static_cast<size_t>(of.size()), 0), size(value) {}
  void add(int64_t i, double term) {
    value[i] += term;
    size[i] += std::abs(term);
  }
  std::vector<double> value, size;
};

void expect_sums(const Tensor& actual, const Sums& expected, double absolute) {
  for (int64_t i = 0; i < actual.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const double ulp = std::abs(expected.value[at]) * std::numeric_limits<float>::epsilon();
    ASSERT_NEAR(actual.at(i), expected.value[at], std::min(5e-7 * expected.size[at], 8 * ulp + absolute))
        << "element " << i << " of " << to_string(actual.type);
  }
}

void expect_convolution(const Convolution& c, const std::string& data, const std::string& kernel, Random& random,
                        double absolute = 1e-4) {
  SCOPED_TRACE(to_string(c.source) + " * " + to_string(c.weights) + " " + data + " " + kernel + " groups " +
               std::to_string(c.groups) + " " + c.style);
  const Attributes attributes = c.attributes(data, kernel);
  const Shape& s = c.weights;
  const Tensor x = random.tensor(data == "NHWC" ? c.source : channels_first(c.source));
  const Tensor w = random.tensor(kernel == "HWIO" ? s : Shape{s[3], s[2], s[0], s[1]});
  const Tensor y = run(OpCode::conv2d, {x, w}, attributes);
  const Tensor g = random.tensor(y.type.shape);

  const Dims xs = steps_of_data(x, data), ys = steps_of_data(y, data), ws = steps_of_weights(w, kernel);
  const int64_t height = c.source[1], width = c.source[2], in = c.source[3] / c.groups, out = s[3] / c.groups;
  const int64_t top = c.zeros_before(0), left = c.zeros_before(1);
  const int64_t rows = y.type.shape[data == "NHWC" ? 1 : 2], columns = y.type.shape[data == "NHWC" ? 2 : 3];
  Sums of_y(y), of_x(x), of_w(w);
  const auto floats = [](const Tensor& t) { return reinterpret_cast<const float*>(t.bytes.data()); };
  const float *const xf = floats(x), *const wf = floats(w), *const gf = floats(g);
  for_each_index({c.source[0], rows, columns, s[0], s[1], c.groups}, [&](const Dims& o) {
    const int64_t row = o[1] * c.strides[0] - top + o[3] * c.dilations[0],
                  column = o[2] * c.strides[1] - left + o[4] * c.dilations[1];
    if (row < 0 || row >= height || column < 0 || column >= width) return;
    const int64_t first_x = o[0] * xs[0] + row * xs[1] + column * xs[2] + o[5] * in * xs[3],
                  first_y = o[0] * ys[0] + o[1] * ys[1] + o[2] * ys[2] + o[5] * out * ys[3],
                  first_w = o[3] * ws[0] + o[4] * ws[1] + o[5] * out * ws[3];
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t k = 0; k < out; ++k) {
        const int64_t at_x = first_x + i * xs[3], at_y = first_y + k * ys[3], at_w = first_w + i * ws[2] + k * ws[3];
        of_y.add(at_y, static_cast<double>(xf[at_x]) * wf[at_w]);
        of_x.add(at_x, static_cast<double>(gf[at_y]) * wf[at_w]);
        of_w.add(at_w, static_cast<double>(gf[at_y]) * xf[at_x]);
      }
    }
  });
  expect_sums(y, of_y, absolute);
  expect_sums(run(OpCode::conv2d_data_gradient, {g, w, x}, attributes, 2), of_x, absolute);
  expect_sums(run(OpCode::conv2d_weights_gradient, {g, x, w}, attributes, 2), of_w, absolute);
}

TEST(Convolution, AgainstLoops) {
  Random random;
  const Convolution cases[] = {
      {.source = {2, 7, 9, 3}, .weights = {3, 3, 3, 5}},
      {.source = {2, 8, 8, 16}, .weights = {3, 3, 16, 32}, .style = "same"},
      {.source = {1, 7, 10, 4}, .weights = {3, 2, 4, 6}, .strides = {2, 3}, .style = "same"},
      {.source = {1, 7, 10, 4}, .weights = {4, 3, 4, 6}, .strides = {2, 1}, .style = "same_lower"},
      {.source = {1, 7, 10, 4}, .weights = {2, 2, 4, 6}, .strides = {3, 2}, .style = "valid"},
      {.source = {2, 11, 12, 3}, .weights = {3, 3, 3, 8}, .dilations = {2, 3}, .padding = {1, 3, 2, 0}},
      {.source = {2, 6, 5, 8}, .weights = {3, 3, 4, 6}, .padding = {1, 1, 1, 1}, .groups = 2},
      {.source = {2, 6, 5, 7}, .weights = {3, 3, 1, 7}, .padding = {1, 1, 1, 1}, .groups = 7},
      {.source = {2, 6, 5, 4}, .weights = {3, 3, 1, 8}, .strides = {2, 2}, .style = "same", .groups = 4},
      {.source = {3, 5, 5, 1}, .weights = {5, 5, 1, 1}},
      {.source = {2, 4, 4, 17}, .weights = {1, 1, 17, 19}},
      {.source = {2, 5, 5, 2}, .weights = {1, 1, 2, 3}, .strides = {3, 3}},
      {.source = {1, 3, 3, 2}, .weights = {2, 2, 2, 3}, .padding = {3, 0, 0, 3}},
      // Fewer positions than taps, for many images: every window sees all of them, or not.
      {.source = {16, 3, 2, 4}, .weights = {5, 4, 4, 3}, .style = "same"},
      {.source = {16, 2, 1, 4}, .weights = {4, 3, 4, 5}, .strides = {2, 1}, .padding = {2, 0, 1, 1}},
      {.source = {16, 2, 2, 3}, .weights = {4, 3, 3, 2}, .strides = {1, 2}, .padding = {1, 2, 1, 1}},
      {.source = {16, 2, 2, 5}, .weights = {3, 3, 5, 7}, .style = "same"},
      {.source = {17, 1, 1, 6}, .weights = {3, 3, 6, 4}, .style = "same"},
      {.source = {16, 2, 3, 4}, .weights = {3, 3, 4, 5}, .strides = {2, 1}, .style = "same_lower"},
      {.source = {18, 3, 2, 3}, .weights = {4, 3, 3, 6}, .strides = {1, 2}, .padding = {2, 3, 1, 0}},
      {.source = {16, 2, 2, 3}, .weights = {3, 3, 3, 2}, .dilations = {2, 1}, .padding = {3, 2, 1, 1}},
      {.source = {16, 2, 2, 4}, .weights = {3, 3, 2, 6}, .style = "same", .groups = 2},
      // Many images with many channels: sums of products over the batch, of tiles where there are some.
      {.source = {32, 4, 3, 32}, .weights = {3, 3, 32, 40}, .style = "same"},
      {.source = {48, 3, 3, 64}, .weights = {3, 3, 64, 33}, .strides = {2, 2}, .style = "same"},
      {.source = {33, 2, 2, 32}, .weights = {3, 3, 32, 70}, .style = "same"},
      {.source = {64, 1, 1, 48}, .weights = {3, 3, 48, 32}, .style = "same"},
      {.source = {32, 5, 6, 32}, .weights = {3, 2, 32, 64}, .dilations = {2, 1}, .padding = {1, 2, 0, 1}},
      {.source = {40, 4, 4, 96}, .weights = {2, 2, 96, 32}, .strides = {3, 2}, .style = "valid"},
      {.source = {0, 5, 5, 2}, .weights = {3, 3, 2, 3}},
      {.source = {2, 5, 5, 0}, .weights = {3, 3, 0, 3}},
      {.source = {2, 5, 5, 2}, .weights = {3, 3, 2, 0}},
  };
  for (const Convolution& c : cases) {
    for (const char* data : {"NHWC", "NCHW"}) {
      for (const char* kernel : {"HWIO", "OIHW"}) expect_convolution(c, data, kernel, random);
    }
  }
}

// What does not fit into a cache goes through it in bands of the images, and a part of the channels at a time.
TEST(Convolution, OfLargeImagesAgainstLoops) {
  Random random;
  const Convolution cases[] = {
      {.source = {32, 40, 9, 32}, .weights = {3, 3, 32, 32}, .style = "same"},
      {.source = {40, 41, 12, 32}, .weights = {3, 3, 32, 40}, .strides = {2, 2}, .style = "same_lower"},
      {.source = {32, 33, 14, 32}, .weights = {3, 2, 32, 32}, .dilations = {3, 2}, .padding = {5, 4, 1, 0}},
      {.source = {70, 25, 24, 33}, .weights = {2, 3, 33, 20}, .strides = {1, 2}, .style = "valid"},
      {.source = {32, 12, 12, 160}, .weights = {3, 3, 160, 32}, .style = "same"},
      {.source = {32, 12, 11, 32}, .weights = {2, 3, 32, 160}, .style = "same"},
      {.source = {160, 14, 9, 40}, .weights = {3, 3, 40, 32}, .style = "same"},
  };
  const int before = kernel_threads();
  int threads = 0;
  for (const Convolution& c : cases) {
    set_kernel_threads(1 + threads++ % 3);
    expect_convolution(c, "NHWC", "HWIO", random,
                       5e-3);  // plain float32 sums of so many products are off by 5e-4 (root mean square)
  }
  set_kernel_threads(before);
}

// An infinity at one end of a row that is shorter than the kernel has taps: no window at the other end sees it.
TEST(Convolution, InfinitiesStayWhereTheyAre) {
  Tensor x(Shape({16, 1, 8, 1}), std::vector<double>(128, 1)), w(Shape({3, 3, 1, 1}), std::vector<double>(9, 1));
  for (int64_t n = 0; n < 16; ++n) x.set(n * 8, kInfinity);
  const auto expected = [](int64_t i) { return i % 8 < 2 ? kInfinity : i % 8 == 7 ? 2 : 3; };
  expect_close(run(OpCode::conv2d, {x, w}, convolution()), expected);
  expect_close(run(OpCode::conv2d_data_gradient, {x, w, x}, convolution(), 2), expected);
}

TEST(Convolution, OfManyImagesKeepsInfinitiesApart) {
  const int64_t images = 64, channels = 64;
  Tensor x(Shape({images, 3, 1, channels}), std::vector<double>(static_cast<size_t>(images * 3 * channels), 1)),
      w(Shape({3, 3, channels, channels}), std::vector<double>(static_cast<size_t>(9 * channels * channels), 1));
  x.set((7 * 3 + 0) * channels + 5, kInfinity);  // an image's first row
  const auto expected = [&](int64_t i) {
    const int64_t row = i / channels % 3;
    if (i / channels / 3 == 7 && row < 2) return kInfinity;
    return static_cast<double>(channels * (row == 1 ? 3 : 2));
  };
  expect_close(run(OpCode::conv2d, {x, w}, convolution()), expected);
  expect_close(run(OpCode::conv2d_data_gradient, {x, w, x}, convolution(), 2), expected);
  // The kernel's middle row meets all three rows, the others two each, of which the last one's do not begin with the
  // first.
  const Tensor ones(x.type.shape, std::vector<double>(static_cast<size_t>(x.size()), 1));
  expect_close(run(OpCode::conv2d_weights_gradient, {ones, x, w}, convolution(), 2), [&](int64_t i) {
    const int64_t channel = i / channels % channels, column = i / (channels * channels) % 3,
                  row = i / (channels * channels) / 3;
    if (column != 1) return 0.0;
    return channel == 5 && row < 2 ? kInfinity : static_cast<double>(images * (row == 1 ? 3 : 2));
  });
}

// A small image with a wide border has a large result; nothing is larger than that.
TEST(Convolution, NeedsNoMoreMemoryThanItsOperands) {
  Graph graph;
  const Attributes wide = with(convolution("explicit"), Attr::kPadding, Dims{50, 50, 50, 50});
  const Op* op = graph.add(OpCode::conv2d,
                           {placeholder(graph, f32({16, 2, 2, 64})), placeholder(graph, f32({3, 3, 64, 8}))}, wide);
  EXPECT_LE(make_kernel(*op)->scratch_bytes(), 2 * op->results[0].byte_count());
}

// ---- three dimensions ----

struct Convolution3d {
  Shape source, weights;  // NDHWC and DHWIO
  Dims strides{1, 1, 1}, dilations{1, 1, 1}, padding{0, 0, 0, 0, 0, 0};
  int64_t groups = 1;
};

// A shape or an index with its axes in another order.
Dims permuted(const Dims& index, const Dims& order) {
  Dims dims;
  for (int64_t axis : order) dims.push_back(index[axis]);
  return dims;
}

void expect_convolution_3d(const Convolution3d& c, bool channels_last, Random& random) {
  SCOPED_TRACE(to_string(c.source) + " * " + to_string(c.weights) + (channels_last ? " NDHWC" : " NCDHW"));
  Attributes attributes = convolution_3d("explicit", c.groups);
  attributes.set(Attr::kStrides, c.strides);
  attributes.set(Attr::kDilations, c.dilations);
  attributes.set(Attr::kPadding, c.padding);
  attributes.set(Attr::kDataLayout, std::string(channels_last ? "NDHWC" : "NCDHW"));
  attributes.set(Attr::kWeightsLayout, std::string(channels_last ? "DHWIO" : "OIDHW"));
  const Dims of_data = channels_last ? Dims{0, 1, 2, 3, 4} : Dims{0, 4, 1, 2, 3};
  const Dims of_weights = channels_last ? Dims{0, 1, 2, 3, 4} : Dims{4, 3, 0, 1, 2};
  const Tensor x = random.tensor(permuted(c.source.dims(), of_data)),
               w = random.tensor(permuted(c.weights.dims(), of_weights));
  const Tensor y = run(OpCode::conv3d, {x, w}, attributes), g = random.tensor(y.type.shape);
  const int64_t in = c.weights[3], out = c.weights[4] / c.groups;
  Dims results;
  for (int64_t i = 0; i < 3; ++i) results.push_back(y.type.shape[(channels_last ? 1 : 2) + i]);
  Sums of_y(y), of_x(x), of_w(w);
  Dims all{c.source[0], results[0], results[1], results[2], c.weights[0], c.weights[1], c.weights[2], c.groups};
  for_each_index(all, [&](const Dims& o) {
    Dims at{o[0]};
    for (int64_t i = 0; i < 3; ++i) {
      at.push_back(o[1 + i] * c.strides[i] - c.padding[2 * i] + o[4 + i] * c.dilations[i]);
      if (at.back() < 0 || at.back() >= c.source[1 + i]) return;
    }
    at.push_back(0);
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t k = 0; k < out; ++k) {
        at.back() = o[7] * in + i;
        const auto place = [](const Tensor& t, const Dims& index) {
          return static_cast<int64_t>(position(t.type.shape.dims(), index));
        };
        const int64_t at_x = place(x, permuted(at, of_data)),
                      at_y = place(y, permuted({o[0], o[1], o[2], o[3], o[7] * out + k}, of_data)),
                      at_w = place(w, permuted({o[4], o[5], o[6], i, o[7] * out + k}, of_weights));
        of_y.add(at_y, x.at(at_x) * w.at(at_w));
        of_x.add(at_x, g.at(at_y) * w.at(at_w));
        of_w.add(at_w, g.at(at_y) * x.at(at_x));
      }
    }
  });
  expect_sums(y, of_y, 1e-4);
  expect_sums(run(OpCode::conv3d_data_gradient, {g, w, x}, attributes, 2), of_x, 1e-4);
  expect_sums(run(OpCode::conv3d_weights_gradient, {g, x, w}, attributes, 2), of_w, 1e-4);
}

TEST(Convolution, OfVolumesAgainstLoops) {
  Random random;
  const Convolution3d cases[] = {
      {.source = {2, 4, 5, 6, 3}, .weights = {2, 3, 2, 3, 5}},
      {.source = {1, 5, 4, 7, 2}, .weights = {3, 2, 2, 2, 4}, .strides = {2, 1, 3}, .padding = {1, 0, 0, 1, 2, 1}},
      {.source = {2, 6, 5, 5, 4}, .weights = {2, 2, 3, 2, 6}, .dilations = {3, 2, 1}, .groups = 2},
      {.source = {1, 4, 4, 5, 8}, .weights = {3, 3, 3, 1, 8}, .padding = {1, 1, 1, 1, 1, 1}, .groups = 8},
      {.source = {2, 3, 3, 3, 16}, .weights = {1, 1, 1, 16, 24}},
      {.source = {0, 3, 3, 3, 2}, .weights = {2, 2, 2, 2, 3}},
  };
  for (const Convolution3d& c : cases) {
    for (bool last : {true, false}) expect_convolution_3d(c, last, random);
  }
}

}  // namespace
}  // namespace alloy::test
