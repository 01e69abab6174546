// Tests Fourier transforms against their definition, for lengths that need different algorithms and over any axes.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

void check(Random& random, Dims dims, const Dims& axes, bool inverse, const std::string& scaling) {
  SCOPED_TRACE(scaling);
  dims.push_back(2);
  const Tensor x = random.tensor(Shape(dims));
  const Attributes attributes{{Attr::kAxes, axes}, {Attr::kInverse, inverse}, {Attr::kScaling, scaling}};
  double most = 0;
  for (double v : meaning(OpCode::fourier_transform, {x}, attributes)[0].values) most = std::max(most, std::abs(v));
  // Lines are computed in double precision; the result is rounded to float after each axis.
  expect_meaning(OpCode::fourier_transform, {x}, attributes, 1, most * 6e-8 * static_cast<double>(axes.size()));
}

TEST_P(Simd, FourierTransformsOfEveryLength) {
  for (int64_t n = 1; n <= 70; ++n) check(random_, {2, n}, {1}, n % 2 == 0, "none");
  for (int64_t n : {97, 122, 128, 144, 243, 250, 256, 347}) check(random_, {n}, {-1}, n % 2 == 0, "none");
}

TEST_P(Simd, FourierTransformsOverAxes) {
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{-1}, Dims{2, 0}, Dims{0, 1, 2}}) {
    for (const char* scaling : {"none", "size", "unitary"}) {
      for (bool inverse : {false, true}) check(random_, {4, 3, 6}, axes, inverse, scaling);
    }
  }
  check(random_, {300, 67, 3}, {1}, false, "unitary");  // shared by threads
}

}  // namespace
}  // namespace alloy::test
