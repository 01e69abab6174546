// Steps of optimizers.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

TEST_P(Simd, OptimizerSteps) {
  for (int64_t n : {0, 1, 37, 3000}) {
    const Tensor values = random_.tensor(Shape({n})), gradient = random_.tensor(Shape({n})),
                 m = random_.tensor(Shape({n}));
    const Tensor v = random_.tensor(Shape({n}), DType::float32, 0, 2),
                 largest = random_.tensor(Shape({n}), DType::float32, 0, 2);
    const Tensor rate({1}, {0.01}), beta1(Shape{}, {0.9}), beta2({1, 1}, {0.99}), epsilon({1}, {1e-3});
    expect_close(
        run(OpCode::sgd, {rate, values, gradient}),
        [&](int64_t i) { return values.at(i) - rate.at(0) * gradient.at(i); }, 4, 1e-8);

    auto new_m = [&](int64_t i) { return beta1.at(0) * m.at(i) + (1 - beta1.at(0)) * gradient.at(i); };
    auto new_v = [&](int64_t i) { return beta2.at(0) * v.at(i) + (1 - beta2.at(0)) * gradient.at(i) * gradient.at(i); };
    auto moved = [&](int64_t i, double second) {
      return values.at(i) - rate.at(0) * new_m(i) / (std::sqrt(second) + epsilon.at(0));
    };
    const auto three = run_all(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, gradient});
    ASSERT_EQ(three.size(), 3u);
    expect_close(three[0], [&](int64_t i) { return moved(i, new_v(i)); }, 4, 1e-5);
    expect_close(three[1], new_m, 4, 1e-6);
    expect_close(three[2], new_v, 4, 1e-6);
    const auto four = run_all(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, largest, gradient});
    ASSERT_EQ(four.size(), 4u);
    expect_close(four[0], [&](int64_t i) { return moved(i, std::max(largest.at(i), new_v(i))); }, 4, 1e-5);
    expect_close(four[3], [&](int64_t i) { return std::max(largest.at(i), new_v(i)); }, 4, 1e-6);
  }
}

// The change alone, of whatever size: rate m / (sqrt(v) + epsilon), with beta1 = beta2 = 1, where that is a float and
// where it is none.
TEST_P(Simd, AdamDividesByEveryRoot) {
  std::vector<double> second = {0, 1e-45, 1e-38, 1e-20, 1e-12, 3, 1e20, 3e38, kInfinity, kNaN}, first;
  while (second.size() < 500) second.push_back(static_cast<float>(std::exp(random_.uniform(-80, 80))));
  for (size_t i = 0; i < second.size(); ++i) first.push_back(static_cast<float>(random_.uniform(-2, 2)));
  const auto n = static_cast<int64_t>(second.size());
  const Tensor zeros({n}, std::vector<double>(second.size(), 0)), m({n}, first), v({n}, second), one({1}, {1});
  for (double e : {1e-8, 1e-3, 0.0, 1e38}) {
    const Tensor epsilon({1}, {e});
    const Tensor y = run(OpCode::adam, {one, one, one, epsilon, zeros, m, v, zeros});
    for (int64_t i = 0; i < n; ++i) {
      const double change = m.at(i) / (std::sqrt(v.at(i)) + epsilon.at(0));
      const double magnitude = std::abs(change);
      if (std::isnan(change)) {
        EXPECT_TRUE(std::isnan(y.at(i))) << i;
      } else if (magnitude > 3.4e38) {
        EXPECT_TRUE(std::isinf(y.at(i)) && (y.at(i) > 0) == (change < 0)) << i;
      } else if (magnitude < 1.2e-38) {  // may be taken for zero
        EXPECT_LE(std::abs(y.at(i)), 1.2e-38) << i;
      } else {
        EXPECT_NEAR(y.at(i), -change, 6e-7 * magnitude) << "v " << v.at(i) << " epsilon " << e;
      }
    }
  }
}

}  // namespace
}  // namespace alloy::test
