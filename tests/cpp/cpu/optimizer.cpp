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
    expect_meaning(OpCode::sgd, {rate, values, gradient}, {}, 4, 1e-8);
    expect_meaning(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, gradient}, {}, 4, 1e-6);
    expect_meaning(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, largest, gradient}, {}, 4, 1e-6);
  }
}

// Tests the change alone, of any size: rate m / (sqrt(v) + epsilon), with beta1 = beta2 = 1. The change may be too
// small for a float.
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
      } else if (magnitude < 1.2e-38) {  // may count as zero
        EXPECT_LE(std::abs(y.at(i)), 1.2e-38) << i;
      } else {
        EXPECT_NEAR(y.at(i), -change, 6e-7 * magnitude) << "v " << v.at(i) << " epsilon " << e;
      }
    }
  }
}

}  // namespace
}  // namespace alloy::test
