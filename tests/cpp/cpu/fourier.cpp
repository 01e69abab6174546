// Fourier transforms against their definition, of lengths that are computed in different ways and over any axes.
#include <complex>

#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

using Number = std::complex<double>;

std::vector<Number> transformed(std::vector<Number> x, const Dims& dims, int64_t axis, double sign, double scale) {
  const int64_t n = dims[axis];
  int64_t stride = 1;
  for (int64_t i = axis + 1; i < dims.size(); ++i) stride *= dims[i];
  std::vector<Number> y(x.size());
  for (int64_t at = 0; at < static_cast<int64_t>(x.size()); ++at) {
    const int64_t j = at / stride % n, first = at - j * stride;
    for (int64_t k = 0; k < n; ++k) {
      y[at] += scale * x[first + k * stride] * std::polar(1.0, sign * 2 * M_PI * static_cast<double>(j * k % n) / n);
    }
  }
  return y;
}

void check(Random& random, Dims dims, const Dims& axes, bool inverse, const std::string& scaling) {
  SCOPED_TRACE(to_string(Shape(dims)) + " " + scaling);
  Dims pairs = dims;
  pairs.push_back(2);
  const Tensor x = random.tensor(Shape(pairs));
  std::vector<Number> expected;
  for (int64_t i = 0; i < x.size(); i += 2) expected.emplace_back(x.at(i), x.at(i + 1));
  for (int64_t given : axes) {
    const int64_t axis = *normalize_axis(given, dims.size());
    const auto n = static_cast<double>(dims[axis]);
    const double scale = scaling == "none" ? 1 : scaling == "size" ? 1 / n : 1 / std::sqrt(n);
    expected = transformed(expected, dims, axis, inverse ? 1 : -1, scale);
  }
  double most = 0;
  for (const Number& z : expected) most = std::max(most, std::abs(z));
  const Tensor y =
      run(OpCode::fourier_transform, {x}, {{Attr::kAxes, axes}, {Attr::kInverse, inverse}, {Attr::kScaling, scaling}});
  // Lines are computed in double precision: what is left is the rounding to float after each axis.
  expect_close(
      y, [&](int64_t i) { return i % 2 == 0 ? expected[i / 2].real() : expected[i / 2].imag(); }, 1,
      most * 6e-8 * static_cast<double>(axes.size()));
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
