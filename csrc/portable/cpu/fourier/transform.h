// The discrete Fourier transform of one line of complex numbers, of any length, in double precision.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace alloy::cpu {

struct Complex {
  double re = 0, im = 0;
};

inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Complex conj(Complex a) { return {a.re, -a.im}; }

// A transform of one length (at least 1) and direction.
//
// The length is split into its prime factors (Cooley and Tukey), except that two twos make a 4. A length with a prime
// factor above kMostFactor becomes a convolution with a chirp (Bluestein), by transforms of a power of 2.
class Transform {
 public:
  static constexpr size_t kMostFactor = 61;

  Transform(size_t length, bool inverse);

  // The count of numbers of working memory that run() needs.
  size_t scratch() const { return padded_ == nullptr ? 0 : 2 * padded_->length_; }
  // out[j] = sum over k of in[k] e^(-2 pi i j k / length), or e^(+...) for the inverse. `out` must not be `in`.
  void run(const Complex* in, Complex* out, Complex* scratch) const;

 private:
  void split(const Complex* in, size_t stride, Complex* out, size_t n, const size_t* factor) const;
  void combine(Complex* out, size_t stride, size_t n, size_t factor) const;
  void prepare_chirp();
  void convolve(const Complex* in, Complex* out, Complex* scratch) const;

  size_t length_;
  double sign_;
  std::vector<size_t> factors_;
  std::vector<Complex> roots_;           // e^(sign 2 pi i k / length)
  std::unique_ptr<Transform> padded_;    // null if by factors
  std::vector<Complex> chirp_, filter_;  // e^(sign pi i k^2 / length), and the transform of its conjugates
};

}  // namespace alloy::cpu
