// Random numbers against the generator as it is written down, one number after the other.
#include "ir/rules/random_state.h"
#include "kernel_testing.h"
#include "philox.h"

namespace alloy::test {
namespace {

// The known answers that come with the generator's publication (Random123): of zeros, of ones in every bit, and of the
// first digits of pi.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

struct Drawn {
  std::vector<double> numbers;
  std::vector<uint32_t> next;
};

Drawn draw(const RandomState& state, int64_t count, const Attributes& attributes, DType dtype = DType::float32) {
  Graph graph;
  const Value from = placeholder(graph, i32({7})), like = placeholder(graph, {dtype, Shape({count})});
  const Op* op = graph.add(OpCode::random, {from, like}, attributes);
  const std::unique_ptr<Kernel> kernel = make_kernel(*op);
  Tensor numbers({dtype, Shape({count})}), next(i32({7}));
  const std::byte* operands[] = {reinterpret_cast<const std::byte*>(state.data()), nullptr};
  std::byte* results[] = {numbers.bytes.data(), next.bytes.data()};
  kernel->run(operands, results, nullptr);
  Drawn drawn;
  for (int64_t i = 0; i < count; ++i) drawn.numbers.push_back(numbers.at(i));
  for (int64_t i = 0; i < 7; ++i) drawn.next.push_back(static_cast<uint32_t>(static_cast<int64_t>(next.at(i))));
  return drawn;
}

double unit(const Stream& stream, uint64_t i) { return (stream.word(i) & 0x7FFFFF) * 0x1p-23; }

// Counts that leave vectors and blocks incomplete, and counters that carry in the middle of a vector.
TEST_P(Simd, ARandomTensorIsTheStreamOfItsState) {
  const RandomState states[] = {random_state(7), random_state(0xFFFFFFFD, 5, 3), random_state(~uint64_t{0} - 2, 5, 3),
                                random_state(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0})};
  for (const RandomState& state : states) {
    const Stream stream(reinterpret_cast<const uint32_t*>(state.data()));
    for (int64_t count : {1, 4, 7, 64, 103, 5000}) {
      const Drawn drawn = draw(state, count, random_attributes("uniform", -1, 3));
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(drawn.numbers[i], -1 + 4 * unit(stream, i)) << i << " of " << count;
      const PhiloxBlock behind = stream.counter_at((count + 3) / 4);
      EXPECT_EQ(drawn.next[0], 1);
      for (size_t i = 0; i < 4; ++i) EXPECT_EQ(drawn.next[i + 1], behind[i]);
      for (size_t i = 5; i < 7; ++i) EXPECT_EQ(drawn.next[i], static_cast<uint32_t>(state[i]));
    }
  }
}

TEST_P(Simd, RandomNormalNumbersAreQuantiles) {
  const RandomState state = random_state(11);
  const Stream stream(reinterpret_cast<const uint32_t*>(state.data()));
  const Drawn drawn = draw(state, 4003, random_attributes("normal", 0, 0));
  for (size_t i = 0; i < drawn.numbers.size(); ++i) {
    const double expected = normal_quantile(std::max(unit(stream, i), 0x1p-24));
    ASSERT_NEAR((drawn.numbers[i] - 0.5) / 2, expected, 1e-6 * (1 + std::fabs(expected))) << i;
  }
}

// The uniform number at 4714 of this seed is 0, and Apple's normal one was reported as NaN.
TEST_P(Simd, RandomNormalNumbersAreFinite) {
  const RandomState state = random_state(2069102477);
  const double least = draw(state, 5000, random_attributes("normal", 0, 0)).numbers[4714];
  EXPECT_NEAR((least - 0.5) / 2, normal_quantile(0x1p-24), 1e-5);
  for (const char* sampling : {"inverse_cdf", "box_muller"}) {
    for (double v : draw(state, 1 << 20, random_attributes("normal", 0, 0, sampling)).numbers) {
      ASSERT_TRUE(std::isfinite(v));
      ASSERT_LT(std::fabs(v - 0.5), 12);
    }
  }
}

TEST_P(Simd, BoxMullerMakesTwoOfTwo) {
  const RandomState state = random_state(5);
  const Stream stream(reinterpret_cast<const uint32_t*>(state.data()));
  const Drawn drawn = draw(state, 1001, random_attributes("normal", 0, 0, "box_muller"));
  for (size_t i = 0; i < drawn.numbers.size(); ++i) {
    const size_t first = i / 2 * 2;
    const double radius = std::sqrt(-2 * std::log(1 - unit(stream, first))), angle = 2 * M_PI * unit(stream, first + 1);
    const double expected = radius * (i == first ? std::cos(angle) : std::sin(angle));
    ASSERT_NEAR((drawn.numbers[i] - 0.5) / 2, expected, 3e-6 * (1 + radius)) << i;
  }
}

// On either side, in the middle, and so far out that the probabilities are small.
TEST_P(Simd, RandomTruncatedNumbersAreQuantilesBetweenTheBounds) {
  const RandomState state = random_state(13);
  const Stream stream(reinterpret_cast<const uint32_t*>(state.data()));
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (const auto& [low, high] : {std::pair(-1.0, 2.0), {4.5, 5.0}, {-40.0, 0.25}, {8.5, 20.5}}) {
    const Drawn drawn = draw(state, 1000, random_attributes("truncated_normal", low, high));
    // Of the side where probabilities are small.
    const double a = (low - 0.5) / 2, b = (high - 0.5) / 2, sign = a > 0 ? -1 : 1;
    const double from = a > 0 ? below(-b) : below(a), to = a > 0 ? below(-a) : below(b);
    for (size_t i = 0; i < drawn.numbers.size(); ++i) {
      ASSERT_GE(drawn.numbers[i], low);
      ASSERT_LT(drawn.numbers[i], high);
      const double p = from + unit(stream, i) * (to - from);
      if (p < 1e-30) continue;
      const double expected = 0.5 + 2 * sign * normal_quantile(p);
      ASSERT_NEAR(drawn.numbers[i], std::min(std::max(expected, low), high), 3e-5 * (1 + std::fabs(expected))) << i;
    }
  }
}

TEST_P(Simd, RandomIntegersAreFromLowToHigh) {
  const RandomState state = random_state(17);
  const Stream stream(reinterpret_cast<const uint32_t*>(state.data()));
  for (const auto& [low, high] : {std::pair(-3.0, 3.0), {5.0, 5.0}, {-2147483648.0, 2147483647.0}}) {
    const Drawn drawn = draw(state, 1000, random_attributes("uniform", low, high), DType::int32);
    for (size_t i = 0; i < drawn.numbers.size(); ++i) {
      ASSERT_EQ(drawn.numbers[i], low + std::floor(stream.word(i) * (high - low + 1) / 4294967296.0)) << i;
    }
  }
}

TEST(RandomNumbers, DoNotDependOnTheNumberOfThreads) {
  const RandomState state = random_state(19);
  const auto drawn = [&](int threads) {
    set_kernel_threads(threads);
    return draw(state, 100003, random_attributes("normal", 0, 0)).numbers;
  };
  const int before = kernel_threads();
  const std::vector<double> one = drawn(1), two = drawn(2), three = drawn(3);
  set_kernel_threads(before);
  EXPECT_EQ(one, two);
  EXPECT_EQ(one, three);
}

TEST(RandomNumbers, AreBelowTheUpperBoundAfterRounding) {
  for (double v : draw(random_state(23), 1 << 16, random_attributes("uniform", 1000, 1001)).numbers) {
    ASSERT_GE(v, 1000);
    ASSERT_LT(v, 1001);
  }
}

}  // namespace
}  // namespace alloy::test
