#include "cpu/fourier/transform.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace alloy::cpu {
namespace {

std::vector<size_t> factors_of(size_t n) {
  std::vector<size_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (size_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

// e^(2 pi i turns).
Complex root(double turns) { return {std::cos(2 * std::numbers::pi * turns), std::sin(2 * std::numbers::pi * turns)}; }

}  // namespace

Transform::Transform(size_t length, bool inverse)
    : length_(length), sign_(inverse ? 1 : -1), factors_(factors_of(length)) {
  if (!factors_.empty() && factors_.back() > kMostFactor) {
    prepare_chirp();
    return;
  }
  for (size_t k = 0; k < length; ++k) roots_.push_back(root(sign_ * static_cast<double>(k) / length));
}

void Transform::run(const Complex* in, Complex* out, Complex* scratch) const {
  if (padded_ != nullptr) convolve(in, out, scratch);
  else split(in, 1, out, length_, factors_.data());
}

// Transforms every p-th number, p times, and combines the p results.
void Transform::split(const Complex* in, size_t stride, Complex* out, size_t n, const size_t* factor) const {
  if (n == 1) {
    *out = *in;
    return;
  }
  const size_t p = *factor, part = n / p;
  for (size_t r = 0; r < p; ++r) {
    if (part == 1) out[r] = in[r * stride];
    else split(in + r * stride, stride * p, out + r * part, part, factor + 1);
  }
  combine(out, stride, n, p);
}

void Transform::combine(Complex* out, size_t stride, size_t n, size_t p) const {
  const size_t part = n / p;
  std::array<Complex, kMostFactor> t;
  for (size_t j = 0; j < part; ++j) {
    t[0] = out[j];
    for (size_t r = 1; r < p; ++r) t[r] = out[r * part + j] * roots_[r * j * stride];
    if (p == 2) {
      out[j] = t[0] + t[1];
      out[part + j] = t[0] - t[1];
    } else if (p == 4) {
      const Complex even = t[0] + t[2], odd = t[0] - t[2], sum = t[1] + t[3], difference = t[1] - t[3];
      const Complex turned{-sign_ * difference.im, sign_ * difference.re};
      out[j] = even + sum;
      out[part + j] = odd + turned;
      out[2 * part + j] = even - sum;
      out[3 * part + j] = odd - turned;
    } else {
      const size_t step = length_ / p;
      for (size_t q = 0; q < p; ++q) {
        Complex sum = t[0];
        for (size_t r = 1; r < p; ++r) sum = sum + t[r] * roots_[r * q % p * step];
        out[q * part + j] = sum;
      }
    }
  }
}

// j k = (j^2 + k^2 - (j - k)^2) / 2.
void Transform::prepare_chirp() {
  const size_t wide = std::bit_ceil(2 * length_ - 1);
  padded_ = std::make_unique<Transform>(wide, false);
  std::vector<Complex> filter(wide);
  for (size_t k = 0; k < length_; ++k) {
    // k^2 modulo 2 length, so that the angle is exact.
    chirp_.push_back(root(sign_ * static_cast<double>(k * k % (2 * length_)) / (2.0 * length_)));
    filter[k] = filter[(wide - k) % wide] = conj(chirp_[k]);
  }
  filter_.resize(wide);
  padded_->run(filter.data(), filter_.data(), nullptr);
  for (Complex& c : filter_) c = {c.re / wide, c.im / wide};
}

void Transform::convolve(const Complex* in, Complex* out, Complex* scratch) const {
  Complex* const line = scratch;
  Complex* const spectrum = scratch + filter_.size();
  for (size_t k = 0; k < filter_.size(); ++k) line[k] = k < length_ ? in[k] * chirp_[k] : Complex{};
  padded_->run(line, spectrum, nullptr);
  for (size_t k = 0; k < filter_.size(); ++k) spectrum[k] = conj(spectrum[k] * filter_[k]);
  padded_->run(spectrum, line, nullptr);  // the conjugate of the inverse transform, as the input was conjugated
  for (size_t k = 0; k < length_; ++k) out[k] = conj(line[k]) * chirp_[k];
}

}  // namespace alloy::cpu
