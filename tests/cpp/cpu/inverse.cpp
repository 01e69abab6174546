// Tests inverses: exchanged rows, singular matrices.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

TEST_P(Simd, InversesOfStacksOfMatrices) {
  for (const Dims& dims :
       {Dims{1, 1}, Dims{2, 2}, Dims{7, 3, 3}, Dims{2, 5, 16, 16}, Dims{130, 130}, Dims{1, 65, 65}}) {
    SCOPED_TRACE(to_string(Shape(dims)));
    const int64_t n = dims.back();
    Tensor x = random_.tensor(Shape(dims));
    // The largest elements are off the diagonal, so every row changes its position.
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t row = i / n % n, column = i % n;
      x.set(i, x.at(i) + (column == (row + 1) % n ? 4 * static_cast<double>(n) : 0));
    }
    expect_meaning(OpCode::inverse, {x}, {}, 0, 1e-6);
  }
}

TEST_P(Simd, InversesWithPivots) {
  expect_equal(run(OpCode::inverse, {Tensor({2, 2}, {0, 2, 4, 0})}), {0, 0.25, 0.5, 0});
  expect_equal(run(OpCode::inverse, {Tensor({3, 3}, {0, 0, 1, 2, 0, 0, 0, 4, 0})}), {0, 0.5, 0, 0, 0, 0.25, 1, 0, 0});
  // With a pivot of 1e-20, the 1 below it would be lost.
  expect_close(
      run(OpCode::inverse, {Tensor({2, 2}, {1e-20F, 1, 1, 1})}),
      [](int64_t i) { return i == 0   ? -1
                             : i == 3 ? -1e-20
                                      : 1; }, 2, 1e-7);
}

TEST_P(Simd, SingularMatricesHaveNoFiniteInverse) {
  for (const Tensor& x : {Tensor({2, 2}, {1, 2, 2, 4}), Tensor({2, 2}, {0, 0, 0, 0})}) {
    const Tensor y = run(OpCode::inverse, {x});
    bool finite = true;
    for (int64_t i = 0; i < y.size(); ++i) finite &= std::isfinite(y.at(i));
    EXPECT_FALSE(finite);
  }
}

}  // namespace
}  // namespace alloy::test
