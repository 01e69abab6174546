// Pooling and its gradients.
#include "cpu/kernel_testing.h"
#include "ir/rules/windows.h"

namespace alloy::test {
namespace {

struct PoolCase {
  Shape source;  // NHWC
  Dims window, strides, dilations{1, 1}, padding{0, 0, 0, 0};
  bool ceil_mode = false, include_padding = false;
};

void expect_pooling(const PoolCase& c, bool channels_last, Tensor x, Random& random) {
  SCOPED_TRACE(to_string(x.type) + " window " + to_string(Shape(c.window)));
  const Attributes attributes{{Attr::kWindow, c.window},
                              {Attr::kStrides, c.strides},
                              {Attr::kDilations, c.dilations},
                              {Attr::kPadding, c.padding},
                              {Attr::kPaddingStyle, std::string("explicit")},
                              {Attr::kDataLayout, std::string(channels_last ? "NHWC" : "NCHW")},
                              {Attr::kCeilMode, c.ceil_mode},
                              {Attr::kIncludePadding, c.include_padding}};
  const Tensor greatest = run(OpCode::max_pool2d, {x}, attributes), mean = run(OpCode::avg_pool2d, {x}, attributes);
  const Tensor g = random.tensor(greatest.type.shape);
  const LayoutAxes l = LayoutAxes::of_data(channels_last ? "NHWC" : "NCHW");
  const int64_t height = c.source[1], width = c.source[2];
  std::vector<double> emax, emean, gmax(static_cast<size_t>(x.size()), 0), gmean(static_cast<size_t>(x.size()), 0);
  int64_t n = 0;
  for_each_index(greatest.type.shape.dims(), [&](const Dims& o) {
    std::vector<int64_t> inside;
    int64_t padded = 0;
    const int64_t y0 = o[l.spatial[0]] * c.strides[0] - c.padding[0],
                  x0 = o[l.spatial[1]] * c.strides[1] - c.padding[2];
    for_each_index(c.window, [&](const Dims& k) {
      const int64_t py = y0 + k[0] * c.dilations[0], px = x0 + k[1] * c.dilations[1];
      padded += py < height + c.padding[1] && px < width + c.padding[3];
      if (py < 0 || py >= height || px < 0 || px >= width) return;
      Dims at = o;
      at[l.spatial[0]] = py;
      at[l.spatial[1]] = px;
      inside.push_back(static_cast<int64_t>(position(x.type.shape.dims(), at)));
    });
    double best = -kInfinity, sum = 0;
    int64_t winner = inside.empty() ? -1 : inside[0];
    for (int64_t at : inside) {
      sum += x.at(at);
      if (x.at(at) > best) best = x.at(at), winner = at;
    }
    const double divisor =
        static_cast<double>(std::max<int64_t>(c.include_padding ? padded : static_cast<int64_t>(inside.size()), 1));
    emax.push_back(best);
    emean.push_back(sum / divisor);
    if (winner >= 0) gmax[winner] += g.at(n);
    for (int64_t at : inside) gmean[at] += g.at(n) / divisor;
    ++n;
  });
  expect_equal(greatest, emax);
  expect_close(mean, [&](int64_t i) { return emean[i]; }, 4, 1e-6);
  expect_close(run(OpCode::max_pool2d_gradient, {g, x}, attributes), [&](int64_t i) { return gmax[i]; }, 4, 1e-6);
  expect_close(run(OpCode::avg_pool2d_gradient, {g, x}, attributes, 1), [&](int64_t i) { return gmean[i]; }, 4, 1e-6);
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
    for (bool last : {true, false}) {
      Tensor x = random_.tensor(last ? c.source : channels_first(c.source));
      expect_pooling(c, last, x, random_);
      // Few values: many ties.
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i) / 2));
      expect_pooling(c, last, x, random_);
    }
  }
}

TEST_P(Simd, ANaNIsTheGreatestOfItsWindow) {
  const PoolCase c{.source = {1, 2, 4, 1}, .window = {2, 2}, .strides = {2, 2}};
  expect_pooling(c, true, Tensor({1, 2, 4, 1}, {-3, -4, -kInfinity, -kInfinity, -1, -2, -kInfinity, -kInfinity}),
                 random_);
  const Attributes attributes{{Attr::kWindow, c.window},
                              {Attr::kStrides, c.strides},
                              {Attr::kDilations, c.dilations},
                              {Attr::kPadding, c.padding},
                              {Attr::kPaddingStyle, std::string("explicit")},
                              {Attr::kDataLayout, std::string("NHWC")}};
  for (const auto& [values, of_them] :
       {std::pair<std::vector<double>, std::vector<double>>{{kNaN, -7, 2, kNaN}, {5, 0, 0, 0}},
        {{1, 7, kNaN, kInfinity}, {0, 0, 5, 0}},
        {{kNaN, kNaN, kNaN, kNaN}, {5, 0, 0, 0}}}) {
    // By vectors of channels, too.
    for (int64_t channels : {1, 37}) {
      Tensor x({DType::float32, Shape({1, 2, 2, channels})}), wide({DType::float32, Shape({1, 1, 1, channels})});
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, values[i / channels]);
      for (int64_t i = 0; i < channels; ++i) wide.set(i, 5);
      const Tensor y = run(OpCode::max_pool2d, {x}, attributes),
                   dx = run(OpCode::max_pool2d_gradient, {wide, x}, attributes);
      for (int64_t i = 0; i < channels; ++i) EXPECT_TRUE(std::isnan(y.at(i)));
      for (int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(dx.at(i), of_them[i / channels]);
    }
  }
}

// ---- over the last four axes ----

struct PoolCase4d {
  Shape source;
  Dims window, strides{1, 1, 1, 1}, dilations{1, 1, 1, 1}, padding{0, 0, 0, 0, 0, 0, 0, 0};
  bool ceil_mode = false, include_padding = false;

  Attributes attributes() const {
    return {{Attr::kWindow, window},
            {Attr::kStrides, strides},
            {Attr::kDilations, dilations},
            {Attr::kPadding, padding},
            {Attr::kPaddingStyle, std::string("explicit")},
            {Attr::kCeilMode, ceil_mode},
            {Attr::kIncludePadding, include_padding}};
  }
};

// What a window sees inside the source: where, and at which of its own places; and how many places are padded.
struct Seen4d {
  std::vector<int64_t> places, taps;
  int64_t padded = 0;
};

Seen4d look(const PoolCase4d& c, const Dims& o) {
  Seen4d seen;
  const int64_t first = c.source.rank() - 4;
  int64_t tap = 0;
  for_each_index(c.window, [&](const Dims& k) {
    Dims at = o;
    bool inside = true, padded = true;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t place = o[first + i] * c.strides[i] - c.padding[2 * i] + k[i] * c.dilations[i];
      inside = inside && place >= 0 && place < c.source[first + i];
      padded = padded && place < c.source[first + i] + c.padding[2 * i + 1];
      at[first + i] = place;
    }
    seen.padded += padded;
    if (inside) {
      seen.places.push_back(static_cast<int64_t>(position(c.source.dims(), at)));
      seen.taps.push_back(tap);
    }
    ++tap;
  });
  return seen;
}

void expect_pooling_4d(const PoolCase4d& c, const Tensor& x, Random& random) {
  SCOPED_TRACE(to_string(c.source) + " window " + to_string(Shape(c.window)));
  const Attributes attributes = c.attributes();
  const Tensor greatest = run(OpCode::max_pool4d, {x}, attributes), mean = run(OpCode::avg_pool4d, {x}, attributes);
  const Tensor g = random.tensor(greatest.type.shape);
  std::vector<double> emax, emean, gmax(static_cast<size_t>(x.size()), 0), gmean(gmax);
  std::vector<int64_t> winners, taps;
  for_each_index(greatest.type.shape.dims(), [&](const Dims& o) {
    const Seen4d seen = look(c, o);
    const auto n = static_cast<int64_t>(emax.size()), inside = static_cast<int64_t>(seen.places.size());
    double best = -kInfinity, sum = 0;
    int64_t winner = 0;
    for (int64_t i = 0; i < inside; ++i) {
      const double v = x.at(seen.places[i]);
      sum += v;
      if (v > best) best = v, winner = i;
    }
    const auto divisor = static_cast<double>(std::max<int64_t>(c.include_padding ? seen.padded : inside, 1));
    emax.push_back(best);
    emean.push_back(sum / divisor);
    winners.push_back(inside == 0 ? 0 : seen.places[winner]);
    taps.push_back(inside == 0 ? 0 : seen.taps[winner]);
    if (inside > 0) gmax[winners.back()] += g.at(n);
    for (int64_t at : seen.places) gmean[at] += g.at(n) / divisor;
  });
  expect_equal(greatest, emax);
  expect_close(mean, [&](int64_t i) { return emean[i]; }, 4, 1e-6);
  expect_close(run(OpCode::max_pool4d_gradient, {g, x}, attributes), [&](int64_t i) { return gmax[i]; }, 4, 1e-6);
  expect_close(run(OpCode::avg_pool4d_gradient, {g, x}, attributes, 1), [&](int64_t i) { return gmean[i]; }, 4, 1e-6);
  for (const char* mode :
       {"global_1d", "global_2d", "global_3d", "global_4d", "local_1d", "local_2d", "local_3d", "local_4d"}) {
    SCOPED_TRACE(mode);
    const PoolIndices kind = PoolIndices::of(mode);
    const int64_t modulus = kind.modulus(kind.are_local ? Shape(c.window) : c.source);
    const std::vector<Tensor> both =
        run_all(OpCode::max_pool4d_with_indices, {x}, with(attributes, Attr::kIndicesMode, std::string(mode)));
    expect_equal(both[0], emax);
    std::vector<double> indices;
    for (size_t i = 0; i < winners.size(); ++i) {
      indices.push_back(static_cast<double>((kind.are_local ? taps[i] : winners[i]) % modulus));
    }
    expect_equal(both[1], indices);
  }
}

TEST_P(Simd, PoolingOverFourAxesAgainstLoops) {
  const PoolCase4d cases[] = {
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
  for (const PoolCase4d& c : cases) {
    Tensor x = random_.tensor(c.source);
    expect_pooling_4d(c, x, random_);
    // Few values: many ties.
    for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i) / 2));
    expect_pooling_4d(c, x, random_);
  }
}

TEST_P(Simd, TheFirstNaNOfAWindowIsItsPlace) {
  const Attributes attributes =
      with(PoolCase4d{.source = {}, .window = {1, 2, 2, 1}}.attributes(), Attr::kIndicesMode, std::string("local_4d"));
  for (int64_t channels : {1, 37}) {
    Tensor x({DType::float32, Shape({1, 2, 2, channels})});
    const double values[] = {3, kNaN, 9, kNaN};
    for (int64_t i = 0; i < x.size(); ++i) x.set(i, values[i / channels]);
    const std::vector<Tensor> both = run_all(OpCode::max_pool4d_with_indices, {x}, attributes);
    for (int64_t i = 0; i < channels; ++i) {
      EXPECT_TRUE(std::isnan(both[0].at(i)));
      EXPECT_EQ(both[1].at(i), 1);
    }
  }
}

}  // namespace
}  // namespace alloy::test
