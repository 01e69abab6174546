// Products and inverses of matrices, and Fourier transforms.
#include <cmath>

#include "reference/reference.h"

namespace alloy::reference {
namespace {

Arrays<double> matmul(const Op& op, const Arrays<double>& in) {
  const bool ta = op.attributes.flag(Attr::kTransposeA), tb = op.attributes.flag(Attr::kTransposeB);
  const Dims &a = in[0].dims, &b = in[1].dims;
  Array out(op.results[0].shape.dims());
  const int64_t rank = out.dims.size(), rows = out.dims[rank - 2], columns = out.dims[rank - 1],
                inner = a[a.size() - (ta ? 2 : 1)];
  const Dims stack(out.dims.begin(), out.dims.end() - 2), of_a(a.begin(), a.end() - 2), of_b(b.begin(), b.end() - 2);
  double* to = out.values.data();
  for_each_index(stack, [&](const Dims& index) {
    const double* const left = in[0].values.data() + position(of_a, index) * rows * inner;
    const double* const right = in[1].values.data() + position(of_b, index) * inner * columns;
    for (int64_t i = 0; i < rows; ++i, to += columns) {
      for (int64_t k = 0; k < inner; ++k) {
        const double factor = left[ta ? k * rows + i : i * inner + k];
        for (int64_t j = 0; j < columns; ++j) to[j] += factor * right[tb ? j * inner + k : k * columns + j];
      }
    }
  });
  return {out};
}

// Eliminates [x | identity] to [identity | inverse], with the greatest pivot first.
void invert(const double* x, double* inverse, size_t n) {
  const size_t wide = 2 * n;
  std::vector<double> both(n * wide, 0);
  for (size_t i = 0; i < n; ++i) {
    both[i * wide + n + i] = 1;
    for (size_t j = 0; j < n; ++j) both[i * wide + j] = x[i * n + j];
  }
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i) {
      if (std::fabs(both[i * wide + k]) > std::fabs(both[pivot * wide + k])) pivot = i;
    }
    for (size_t j = 0; j < wide; ++j) std::swap(both[k * wide + j], both[pivot * wide + j]);
    const double divisor = both[k * wide + k];
    for (size_t j = 0; j < wide; ++j) both[k * wide + j] /= divisor;
    for (size_t i = 0; i < n; ++i) {
      const double times = both[i * wide + k];
      for (size_t j = 0; i != k && j < wide; ++j) both[i * wide + j] -= times * both[k * wide + j];
    }
  }
  for (size_t i = 0; i < n * n; ++i) inverse[i] = both[i / n * wide + n + i % n];
}

Arrays<double> inverse(const Op&, const Arrays<double>& in) {
  const size_t n = in[0].dims.back();
  Array out(in[0].dims);
  for (size_t at = 0; at < out.size(); at += n * n) invert(&in[0].values[at], &out.values[at], n);
  return {out};
}

// The transform of n complex numbers at distance `step`, by its definition.
void transform(const double* x, double* y, int64_t n, int64_t step, double sign, double scale) {
  for (int64_t to = 0; to < n; ++to) {
    double re = 0, im = 0;
    for (int64_t from = 0; from < n; ++from) {
      const double angle = sign * 2 * M_PI * static_cast<double>(from * to % n) / n, c = std::cos(angle),
                   s = std::sin(angle);
      re += x[from * step] * c - x[from * step + 1] * s;
      im += x[from * step] * s + x[from * step + 1] * c;
    }
    y[to * step] = scale * re;
    y[to * step + 1] = scale * im;
  }
}

// Transforms one axis after the other.
Arrays<double> fourier_transform(const Op& op, const Arrays<double>& in) {
  const std::string& scaling = op.attributes.word(Attr::kScaling);
  Array x = in[0], y = x;
  const Dims steps = steps_of(x.dims);
  for (int64_t given : op.attributes.ints(Attr::kAxes)) {
    const int64_t axis = *normalize_axis(given, x.dims.size() - 1), n = x.dims[axis];
    const double scale = scaling == "none" ? 1 : scaling == "size" ? 1.0 / n : 1 / std::sqrt(n);
    Dims lines = x.dims;
    lines[axis] = lines.back() = 1;
    for_each_place(lines, steps, 0, [&](size_t at) {
      transform(&x.values[at], &y.values[at], n, steps[axis], op.attributes.flag(Attr::kInverse) ? 1 : -1, scale);
    });
    std::swap(x, y);
  }
  return {x};
}

}  // namespace

Function<double> matrices(OpCode code) {
  switch (code) {
    case OpCode::matmul: return matmul;
    case OpCode::inverse: return inverse;
    case OpCode::fourier_transform: return fourier_transform;
    default: return nullptr;
  }
}

}  // namespace alloy::reference
