// Pooling and its gradients.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

// For images in NHWC, or over the last four axes if the window has four.
struct PoolCase {
  Shape source;
  Dims window, strides = ones(), dilations = ones(), padding = Dims(2 * window.size(), 0);
  bool ceil_mode = false, include_padding = false;

  Dims ones() const { return Dims(window.size(), 1); }
  Attributes attributes(const std::string& layout) const {
    Attributes given =
        window.size() == 4 ? pooling_4d("explicit") : with(pooling("explicit"), Attr::kDataLayout, layout);
    given.set(Attr::kWindow, window);
    given.set(Attr::kStrides, strides);
    given.set(Attr::kDilations, dilations);
    given.set(Attr::kPadding, padding);
    given.set(Attr::kCeilMode, ceil_mode);
    given.set(Attr::kIncludePadding, include_padding);
    return given;
  }
};

void expect_pooling(const PoolCase& c, const Tensor& x, Random& random, const std::string& layout = "NHWC") {
  SCOPED_TRACE("window " + to_string(Shape(c.window)) + " " + layout);
  const Attributes attributes = c.attributes(layout);
  const bool is_flat = c.window.size() == 2;
  expect_meaning(is_flat ? OpCode::max_pool2d : OpCode::max_pool4d, {x}, attributes);
  expect_meaning(is_flat ? OpCode::avg_pool2d : OpCode::avg_pool4d, {x}, attributes, 4, 1e-6);
  const Tensor g = random.tensor(run(is_flat ? OpCode::max_pool2d : OpCode::max_pool4d, {x}, attributes).type.shape);
  expect_meaning(is_flat ? OpCode::max_pool2d_gradient : OpCode::max_pool4d_gradient, {g, x}, attributes, 4, 1e-6);
  expect_meaning(is_flat ? OpCode::avg_pool2d_gradient : OpCode::avg_pool4d_gradient, {g, x}, attributes, 4, 1e-6, 1);
  for (const char* mode :
       {"global_1d", "global_2d", "global_3d", "global_4d", "local_1d", "local_2d", "local_3d", "local_4d"}) {
    if (is_flat) break;
    SCOPED_TRACE(mode);
    expect_meaning(OpCode::max_pool4d_with_indices, {x}, with(attributes, Attr::kIndicesMode, std::string(mode)));
  }
}

// Few values: many ties.
Tensor with_ties(Tensor x) {
  for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i) / 2));
  return x;
}

TEST_P(Simd, PoolingAgainstLoops) {
  const PoolCase cases[] = {
      {.source = {2, 6, 8, 5}, .window = {2, 2}, .strides = {2, 2}},
      {.source = {2, 7, 8, 100}, .window = {3, 2}, .strides = {2, 1}, .padding = {1, 1, 0, 1}},
      {.source = {1, 7, 7, 16}, .window = {3, 3}, .strides = {1, 1}, .padding = {1, 1, 1, 1}, .include_padding = true},
      {.source = {2, 6, 7, 3}, .window = {3, 3}, .strides = {2, 2}, .ceil_mode = true},
      {.source = {2, 6, 7, 3},
       .window = {2, 2},
       .strides = {3, 3},
       .padding = {1, 1, 1, 1},
       .ceil_mode = true,
       .include_padding = true},
      {.source = {1, 9, 9, 17}, .window = {3, 2}, .strides = {2, 2}, .dilations = {2, 3}, .padding = {1, 0, 0, 2}},
      {.source = {1, 3, 3, 4}, .window = {1, 1}, .strides = {3, 3}, .ceil_mode = true},
      {.source = {0, 4, 4, 3}, .window = {2, 2}, .strides = {2, 2}},
      {.source = {2, 4, 4, 0}, .window = {2, 2}, .strides = {2, 2}},
  };
  for (const PoolCase& c : cases) {
    for (const char* layout : {"NHWC", "NCHW"}) {
      const Tensor x = random_.tensor(layout[1] == 'H' ? c.source : channels_first(c.source));
      expect_pooling(c, x, random_, layout);
      expect_pooling(c, with_ties(x), random_, layout);
    }
  }
}

// The first NaN gives the index and gets the gradient.
TEST_P(Simd, ANaNIsTheGreatestOfItsWindow) {
  const PoolCase flat{.source = {}, .window = {2, 2}, .strides = {2, 2}}, deep{.source = {}, .window = {1, 2, 2, 1}};
  expect_pooling(flat, Tensor({1, 2, 4, 1}, {-3, -4, -kInfinity, -kInfinity, -1, -2, -kInfinity, -kInfinity}), random_);
  for (const std::vector<double>& values : {std::vector<double>{kNaN, -7, 2, kNaN},
                                            {1, 7, kNaN, kInfinity},
                                            {kNaN, kNaN, kNaN, kNaN},
                                            {3, kNaN, 9, kNaN}}) {
    // Also with whole vectors of channels.
    for (int64_t channels : {1, 37}) {
      Tensor x({DType::float32, Shape({1, 2, 2, channels})});
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, values[i / channels]);
      expect_pooling(flat, x, random_);
      expect_pooling(deep, x, random_);
    }
  }
}

TEST_P(Simd, PoolingOverFourAxesAgainstLoops) {
  const PoolCase cases[] = {
      {.source = {2, 3, 6, 8}, .window = {1, 1, 2, 2}, .strides = {1, 1, 2, 2}},
      {.source = {2, 7, 8, 19}, .window = {1, 3, 2, 1}, .strides = {1, 2, 1, 1}, .padding = {0, 0, 1, 1, 0, 1, 0, 0}},
      {.source = {5, 4, 6, 7},
       .window = {2, 3, 2, 3},
       .strides = {2, 1, 3, 2},
       .padding = {1, 0, 1, 1, 0, 1, 2, 1},
       .include_padding = true},
      {.source = {2, 3, 4, 5, 6}, .window = {2, 1, 2, 3}, .dilations = {1, 1, 2, 2}, .ceil_mode = true},
      {.source = {7, 2, 3, 4}, .window = {3, 1, 1, 1}, .strides = {2, 1, 1, 1}, .ceil_mode = true},
      {.source = {2, 3, 4, 5}, .window = {1, 1, 1, 1}},
      {.source = {2, 0, 4, 5}, .window = {1, 1, 2, 2}},
  };
  for (const PoolCase& c : cases) {
    const Tensor x = random_.tensor(c.source);
    expect_pooling(c, x, random_);
    expect_pooling(c, with_ties(x), random_);
  }
}

}  // namespace
}  // namespace alloy::test
