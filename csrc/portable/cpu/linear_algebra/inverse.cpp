// Inverses of matrices.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {
namespace {

using ir::Op;

// Eliminates with partial pivoting, in place, in double precision. A pivot of 0 gives infinities and NaN.
class Inverse final : public Kernel {
 public:
  explicit Inverse(const Op& op) {
    const ir::Dims& dims = op.results[0].shape.dims();
    n_ = dims.back();
    count_ = n_ == 0 ? 0 : op.results[0].shape.element_count() / (n_ * n_);
  }

  size_t scratch_bytes() const override { return (shares() ? threads() : 1) * (n_ * n_ + n_) * sizeof(double); }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto* const x = reinterpret_cast<const float*>(operands[0]);
    auto* const y = reinterpret_cast<float*>(results[0]);
    auto* const work = reinterpret_cast<double*>(scratch);
    if (!shares()) {
      for (int64_t i = 0; i < count_; ++i) {
        invert(x + i * n_ * n_, y + i * n_ * n_, work, [this](const auto& body) { parallel_for(n_, n_, body); });
      }
      return;
    }
    parallel_shares(count_, n_ * n_ * n_, [&](int64_t share, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        invert(x + i * n_ * n_, y + i * n_ * n_, work + share * (n_ * n_ + n_),
               [this](const auto& body) { body(int64_t{0}, n_); });
      }
    });
  }

 private:
  // True if threads divide the matrices; otherwise they divide the rows of each matrix.
  bool shares() const { return count_ >= threads(); }

  // for_rows(body) calls body(begin, end) for shares of the rows.
  template <class ForRows>
  void invert(const float* x, float* y, double* a, const ForRows& for_rows) const {
    const int64_t n = n_;
    double* const pivots = a + n * n;
    for (int64_t i = 0; i < n * n; ++i) a[i] = x[i];
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < n; ++i) {
        if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
      }
      pivots[k] = static_cast<double>(pivot);
      if (pivot != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      double* const row = a + k * n;
      const double factor = 1 / row[k];
      row[k] = 1;
      for (int64_t j = 0; j < n; ++j) row[j] *= factor;
      for_rows([&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i != k) subtract(row, k, a + i * n);
        }
      });
    }
    for (int64_t k = n; k-- > 0;) {  // swapped rows are swapped columns of the inverse
      const auto pivot = static_cast<int64_t>(pivots[k]);
      for (int64_t i = 0; i < n && pivot != k; ++i) std::swap(a[i * n + k], a[i * n + pivot]);
    }
    for (int64_t i = 0; i < n * n; ++i) y[i] = static_cast<float>(a[i]);
  }

  // Subtracts a multiple of `row` that clears column k of `from`, and writes that column of the inverse.
  void subtract(const double* row, int64_t k, double* from) const {
    const double times = from[k];
    from[k] = 0;
    for (int64_t j = 0; j < n_; ++j) from[j] -= times * row[j];
  }

  int64_t n_, count_;
};

}  // namespace

std::unique_ptr<Kernel> make_inverse(const Op& op) {
  require_float(op);
  return std::make_unique<Inverse>(op);
}

}  // namespace alloy::cpu
