// Convolutions and their gradients.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

struct Convolution {
  Shape source, weights;  // in the order of NHWC and HWIO, or NDHWC and DHWIO
  Dims strides = ones(), dilations = ones(), padding = Dims(2 * (source.rank() - 2), 0);
  std::string style = "explicit";
  int64_t groups = 1;

  Dims ones() const { return Dims(source.rank() - 2, 1); }
};

// Reorders a shape from the axes of `from` to the axes of `to`.
Shape in_order(const Shape& shape, const std::string& from, const std::string& to) {
  Dims dims;
  for (char axis : to) dims.push_back(shape[static_cast<int64_t>(from.find(axis))]);
  return Shape(dims);
}

Tensor sizes_of(Tensor x) {
  for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::abs(x.at(i)));
  return x;
}

// The sums of a kernel, and the sizes of their terms, which bound rounding errors.
void expect_sums(OpCode code, const std::vector<Tensor>& in, const Attributes& attributes, double absolute,
                 int shape_only = -1) {
  const Tensor actual = run(code, in, attributes, shape_only);
  const Array expected = meaning(code, in, attributes)[0];
  std::vector<Tensor> sizes;
  for (const Tensor& t : in) sizes.push_back(sizes_of(t));
  const Array size = meaning(code, sizes, attributes)[0];
  for (size_t i = 0; i < expected.size(); ++i) {
    const double e = expected.values[i], ulp = std::abs(e) * std::numeric_limits<float>::epsilon();
    ASSERT_NEAR(actual.at(static_cast<int64_t>(i)), e, std::min(5e-7 * size.values[i], 8 * ulp + absolute))
        << "element " << i << " of " << info(code).name;
  }
}

void expect_convolution(const Convolution& c, const std::string& data, const std::string& kernel, Random& random,
                        double absolute = 1e-4) {
  SCOPED_TRACE(to_string(c.source) + " * " + to_string(c.weights) + " " + data + " " + kernel + " groups " +
               std::to_string(c.groups) + " " + c.style);
  const bool is_flat = c.source.rank() == 4;
  Attributes attributes = is_flat ? convolution(c.style, c.groups) : convolution_3d(c.style, c.groups);
  attributes.set(Attr::kStrides, c.strides);
  attributes.set(Attr::kDilations, c.dilations);
  attributes.set(Attr::kPadding, c.padding);
  attributes.set(Attr::kDataLayout, data);
  attributes.set(Attr::kWeightsLayout, kernel);
  const Tensor x = random.tensor(in_order(c.source, is_flat ? "NHWC" : "NDHWC", data)),
               w = random.tensor(in_order(c.weights, is_flat ? "HWIO" : "DHWIO", kernel));
  expect_sums(is_flat ? OpCode::conv2d : OpCode::conv3d, {x, w}, attributes, absolute);
  const Tensor g = random.tensor(run(is_flat ? OpCode::conv2d : OpCode::conv3d, {x, w}, attributes).type.shape);
  expect_sums(is_flat ? OpCode::conv2d_data_gradient : OpCode::conv3d_data_gradient, {g, w, x}, attributes, absolute,
              2);
  expect_sums(is_flat ? OpCode::conv2d_weights_gradient : OpCode::conv3d_weights_gradient, {g, x, w}, attributes,
              absolute, 2);
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
      // Fewer positions than taps, for many images: every window covers all of them or none.
      {.source = {16, 3, 2, 4}, .weights = {5, 4, 4, 3}, .style = "same"},
      {.source = {16, 2, 1, 4}, .weights = {4, 3, 4, 5}, .strides = {2, 1}, .padding = {2, 0, 1, 1}},
      {.source = {16, 2, 2, 3}, .weights = {4, 3, 3, 2}, .strides = {1, 2}, .padding = {1, 2, 1, 1}},
      {.source = {16, 2, 2, 5}, .weights = {3, 3, 5, 7}, .style = "same"},
      {.source = {17, 1, 1, 6}, .weights = {3, 3, 6, 4}, .style = "same"},
      {.source = {16, 2, 3, 4}, .weights = {3, 3, 4, 5}, .strides = {2, 1}, .style = "same_lower"},
      {.source = {18, 3, 2, 3}, .weights = {4, 3, 3, 6}, .strides = {1, 2}, .padding = {2, 3, 1, 0}},
      {.source = {16, 2, 2, 3}, .weights = {3, 3, 3, 2}, .dilations = {2, 1}, .padding = {3, 2, 1, 1}},
      {.source = {16, 2, 2, 4}, .weights = {3, 3, 2, 6}, .style = "same", .groups = 2},
      // Many images with many channels: sums of products over the batch, by tiles if the machine has them.
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

// Images that do not fit into a cache are computed in bands, with some of the channels at a time.
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

// Fewer images than threads are divided into bands of rows, unless a band would see padding alone.
TEST(Convolution, OfFewImagesOnManyThreads) {
  Random random;
  const Convolution cases[] = {
      {.source = {1, 40, 30, 16}, .weights = {3, 3, 16, 24}, .style = "same"},
      {.source = {2, 41, 33, 8}, .weights = {5, 3, 8, 16}, .strides = {2, 1}, .padding = {4, 0, 1, 1}},
      {.source = {3, 30, 20, 16}, .weights = {3, 2, 16, 16}, .dilations = {4, 1}, .padding = {3, 5, 0, 1}},
      {.source = {1, 29, 64, 32}, .weights = {2, 3, 32, 32}, .strides = {3, 2}, .style = "valid"},
      {.source = {1, 4, 90, 16}, .weights = {3, 3, 16, 16}, .padding = {20, 20, 1, 1}},
      {.source = {2, 30, 20, 32}, .weights = {3, 3, 8, 32}, .style = "same", .groups = 4},
      {.source = {1, 12, 10, 10, 8}, .weights = {3, 3, 3, 8, 16}, .padding = {1, 1, 1, 1, 1, 1}},
      {.source = {2, 9, 10, 11, 8}, .weights = {2, 3, 3, 8, 16}, .strides = {2, 1, 1}},
  };
  const int before = kernel_threads();
  for (const int threads : {7, 512}) {
    set_kernel_threads(threads);
    for (const Convolution& c : cases) {
      const bool is_flat = c.source.rank() == 4;
      expect_convolution(c, is_flat ? "NHWC" : "NDHWC", is_flat ? "HWIO" : "DHWIO", random, 1e-3);
      expect_convolution(c, is_flat ? "NCHW" : "NCDHW", is_flat ? "OIHW" : "OIDHW", random, 1e-3);
    }
  }
  set_kernel_threads(before);
}

// oneDNN's layouts of weights have blocks of 16, 24, 32 or 64 channels; threads pack them together.
TEST(Convolution, OfWeightsWhoseBlocksAreNotAThreadsShare) {
  Random random;
  const int before = kernel_threads();
  set_kernel_threads(2);
  for (const int64_t channels : {128, 192}) {
    for (const int64_t side : {2, 7}) {
      expect_convolution({.source = {16, side, side, 128}, .weights = {3, 3, 128, channels}, .style = "same"}, "NHWC",
                         "HWIO", random, 2e-3);
    }
  }
  set_kernel_threads(before);
}

// An infinity at one end of a row with fewer elements than the kernel has taps must not reach windows at the other end.
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
  // The kernel's middle row meets all three rows, the other rows two each; for the last row these do not begin with the
  // first.
  const Tensor ones(x.type.shape, std::vector<double>(static_cast<size_t>(x.size()), 1));
  expect_close(run(OpCode::conv2d_weights_gradient, {ones, x, w}, convolution(), 2), [&](int64_t i) {
    const int64_t channel = i / channels % channels, column = i / (channels * channels) % 3,
                  row = i / (channels * channels) / 3;
    if (column != 1) return 0.0;
    return channel == 5 && row < 2 ? kInfinity : static_cast<double>(images * (row == 1 ? 3 : 2));
  });
}

// A small image with a wide border has a large result, larger than any other tensor.
TEST(Convolution, NeedsNoMoreMemoryThanItsOperands) {
  Graph graph;
  const Attributes wide = with(convolution("explicit"), Attr::kPadding, Dims{50, 50, 50, 50});
  const Op* op = graph.add(OpCode::conv2d,
                           {placeholder(graph, f32({16, 2, 2, 64})), placeholder(graph, f32({3, 3, 64, 8}))}, wide);
  EXPECT_LE(make_kernel(*op)->scratch_bytes(), 2 * op->results[0].byte_count());
}

TEST(Convolution, OfVolumesAgainstLoops) {
  Random random;
  const Convolution cases[] = {
      {.source = {2, 4, 5, 6, 3}, .weights = {2, 3, 2, 3, 5}},
      {.source = {1, 5, 4, 7, 2}, .weights = {3, 2, 2, 2, 4}, .strides = {2, 1, 3}, .padding = {1, 0, 0, 1, 2, 1}},
      {.source = {2, 6, 5, 5, 4}, .weights = {2, 2, 3, 2, 6}, .dilations = {3, 2, 1}, .groups = 2},
      {.source = {1, 4, 4, 5, 8}, .weights = {3, 3, 3, 1, 8}, .padding = {1, 1, 1, 1, 1, 1}, .groups = 8},
      {.source = {2, 3, 3, 3, 16}, .weights = {1, 1, 1, 16, 24}},
      {.source = {0, 3, 3, 3, 2}, .weights = {2, 2, 2, 2, 3}},
  };
  for (const Convolution& c : cases) {
    expect_convolution(c, "NDHWC", "DHWIO", random);
    expect_convolution(c, "NCDHW", "OIDHW", random);
  }
}

}  // namespace
}  // namespace alloy::test
