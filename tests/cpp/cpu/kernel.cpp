// Tests the behaviour that all kernels share.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

// Tests results and operands on every thread of a loop, and the caller's own mode afterwards.
TEST(Denormals, AreZeroWhileFlushed) {
  const volatile float least = std::numeric_limits<float>::min(), half = 0.5f;
  auto flushes = [&] { return least * half == 0; };
  ASSERT_FALSE(flushes());
  const std::vector<double> small(1 << 18, 2e-38), smaller(1 << 18, 2e-40);
  const Tensor x(Shape({1 << 18}), small), y(Shape({1 << 18}), smaller), tenth({1}, {0.1}), big({1}, {1e20});
  auto products = [&] { return std::pair(run(OpCode::multiply, {x, tenth}), run(OpCode::multiply, {y, big})); };
  for (int turn = 0; turn < 2; ++turn) {
    {
      const FlushDenormals mode;
      EXPECT_TRUE(flushes());
      const auto [result, operand] = products();
      for (int64_t i = 0; i < result.size(); ++i) ASSERT_EQ(result.at(i), 0) << i;
      for (int64_t i = 0; i < operand.size(); ++i) ASSERT_EQ(operand.at(i), 0) << i;
      {
        const FlushDenormals inner;
        EXPECT_TRUE(flushes());
      }
      EXPECT_TRUE(flushes()) << "the caller's mode was to flush";
    }
    EXPECT_FALSE(flushes());
  }
}

TEST(MakeKernel, RefusesTypesWithoutAKernel) {
  Graph graph;
  const Value x = placeholder(graph, {DType::float16, {2}});
  EXPECT_THROW(make_kernel(*graph.value(OpCode::exp, {x}).op), Error);
  EXPECT_THROW(make_kernel(*graph.value(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}}).op), Error);
}

}  // namespace
}  // namespace alloy::test
