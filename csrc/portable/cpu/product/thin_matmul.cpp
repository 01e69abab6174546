#include "cpu/product/thin_matmul.h"

#include <algorithm>

#include "cpu/machine.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/product/thin_matmul.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"

#ifndef ALLOY_KERNELS_THIN_MATMUL_ONCE_
#define ALLOY_KERNELS_THIN_MATMUL_ONCE_
namespace alloy::cpu {

// Rows of the right matrix, or of its transpose.
struct RowRange {
  int64_t begin, end;
};

struct ThinLoops {
  // Adds left (rows, inner) times these rows of right (inner, columns) to y (rows, columns). `sums` has the size of y.
  void (*add_rows)(const ProductShape& p, const float* left, const float* right, RowRange range, float* sums, float* y);
  // Computes columns of the result, one for each of these rows of the transposed right matrix.
  void (*dot_rows)(const ProductShape& p, const float* left, const float* right, RowRange range, float* y);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// Longer running sums would lose digits.
constexpr int64_t kLongestSum = 512, kLongestDot = 4096;

// sums += left's columns [k, k + depth) times `depth` rows of right.
template <size_t rows, size_t depth>
HWY_INLINE void AddRows(const ProductShape& p, const float* left, const float* right, float* sums) {
  const FloatTag d;
  hn::Vec<FloatTag> factors[rows][depth];
  HWY_UNROLL(8)
  for (size_t m = 0; m < rows; ++m) {
    HWY_UNROLL(8)
    for (size_t k = 0; k < depth; ++k) {
      factors[m][k] = hn::Set(d, left[static_cast<int64_t>(m) * p.inner + static_cast<int64_t>(k)]);
    }
  }
  ForVectors(d, p.columns, [&](size_t i, size_t n) HWY_ATTR {
    hn::Vec<FloatTag> sum[rows];
    HWY_UNROLL(8)
    for (size_t m = 0; m < rows; ++m) {
      sum[m] = LoadUpTo(d, sums + static_cast<int64_t>(m) * p.columns + i, n, hn::Zero(d));
    }
    HWY_UNROLL(8)
    for (size_t k = 0; k < depth; ++k) {
      const auto x = LoadUpTo(d, right + k * p.columns + i, n, hn::Zero(d));
      HWY_UNROLL(8)
      for (size_t m = 0; m < rows; ++m) sum[m] = hn::MulAdd(factors[m][k], x, sum[m]);
    }
    HWY_UNROLL(8)
    for (size_t m = 0; m < rows; ++m) StoreUpTo(d, sum[m], n, sums + static_cast<int64_t>(m) * p.columns + i);
  });
}

template <size_t rows>
void AddRowsOf(const ProductShape& p, const float* left, const float* right, RowRange range, float* sums, float* y) {
  constexpr int64_t kDepth = rows <= 2 ? 8 : rows <= 4 ? 4 : 2;  // columns of factors in registers
  const int64_t count = p.rows * p.columns;
  for (int64_t part = range.begin; part < range.end; part += kLongestSum) {
    std::fill_n(sums, count, 0.0F);
    const int64_t last = std::min(part + kLongestSum, range.end);
    int64_t k = part;
    for (; k + kDepth <= last; k += kDepth) {
      AddRows<rows, static_cast<size_t>(kDepth)>(p, left + k, right + k * p.columns, sums);
    }
    for (; k < last; ++k) AddRows<rows, 1>(p, left + k, right + k * p.columns, sums);
    for (int64_t i = 0; i < count; ++i) y[i] += sums[i];
  }
}

template <size_t rows>
void DotRowsOf(const ProductShape& p, const float* left, const float* right, RowRange range, float* y) {
  const FloatTag d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t column = range.begin; column < range.end; ++column) {
    const float* w = right + column * p.inner;
    float totals[rows] = {};
    for (int64_t part = 0; part < p.inner; part += kLongestDot) {
      const int64_t last = std::min(part + kLongestDot, p.inner);
      hn::Vec<FloatTag> even[rows], odd[rows];
      HWY_UNROLL(8)
      for (size_t m = 0; m < rows; ++m) even[m] = odd[m] = hn::Zero(d);
      int64_t k = part;
      for (; k + 2 * lanes <= last; k += 2 * lanes) {
        const auto first = hn::LoadU(d, w + k), second = hn::LoadU(d, w + k + lanes);
        HWY_UNROLL(8)
        for (size_t m = 0; m < rows; ++m) {
          const float* x = left + static_cast<int64_t>(m) * p.inner + k;
          even[m] = hn::MulAdd(hn::LoadU(d, x), first, even[m]);
          odd[m] = hn::MulAdd(hn::LoadU(d, x + lanes), second, odd[m]);
        }
      }
      for (; k < last; k += lanes) {
        const size_t n = std::min(lanes, last - k);
        const auto rest = LoadUpTo(d, w + k, n, hn::Zero(d));
        HWY_UNROLL(8)
        for (size_t m = 0; m < rows; ++m) {
          even[m] =
              hn::MulAdd(LoadUpTo(d, left + static_cast<int64_t>(m) * p.inner + k, n, hn::Zero(d)), rest, even[m]);
        }
      }
      HWY_UNROLL(8)
      for (size_t m = 0; m < rows; ++m) totals[m] += hn::GetLane(hn::SumOfLanes(d, hn::Add(even[m], odd[m])));
    }
    for (size_t m = 0; m < rows; ++m) y[static_cast<int64_t>(m) * p.columns + column] = totals[m];
  }
}

template <size_t rows>
ThinLoops LoopsOf() {
  return {&AddRowsOf<rows>, &DotRowsOf<rows>};
}

ThinLoops FindThinLoops(int64_t rows) {
  static_assert(kMostThinRows == 8);
  switch (rows) {
    case 1: return LoopsOf<1>();
    case 2: return LoopsOf<2>();
    case 3: return LoopsOf<3>();
    case 4: return LoopsOf<4>();
    case 5: return LoopsOf<5>();
    case 6: return LoopsOf<6>();
    case 7: return LoopsOf<7>();
    default: return LoopsOf<8>();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindThinLoops);

namespace {

// Each thread reads some rows of the right matrix, or of its transpose, in the order of memory. So parameters that are
// updated in the same order stay in the cache of one core.
class ThinMatMul final : public Kernel {
 public:
  explicit ThinMatMul(const ProductShape& product)
      : product_(product), loops_(HWY_DYNAMIC_DISPATCH(FindThinLoops)(product.rows)), shares_(kernel_threads()) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const ProductShape& p = product_;
    const auto *a = reinterpret_cast<const float*>(operands[0]), *right = reinterpret_cast<const float*>(operands[1]);
    auto *y = reinterpret_cast<float*>(results[0]), *left = reinterpret_cast<float*>(scratch);
    for (int64_t m = 0; m < p.rows; ++m) {
      for (int64_t k = 0; k < p.inner; ++k) left[m * p.inner + k] = a[m * p.a_row + k * p.a_column];
    }
    const int64_t lines = thin_by_dots(p) ? p.columns : p.inner, count = p.rows * p.columns;
    float* const parts = left + rounded(p.rows * p.inner);
    parallel_for(shares_, p.inner * p.columns / shares_, [&](int64_t first, int64_t last) {
      for (int64_t share = first; share < last; ++share) {
        const RowRange range{lines * share / shares_, lines * (share + 1) / shares_};
        if (thin_by_dots(p)) {
          loops_.dot_rows(p, left, right, range, y);
        } else {
          float* const own = parts + 2 * share * rounded(count);
          std::fill_n(own, count, 0.0F);
          loops_.add_rows(p, left, right, range, own + rounded(count), own);
        }
      }
    });
    if (thin_by_dots(p)) return;
    std::copy_n(parts, count, y);
    for (int64_t share = 1; share < shares_; ++share) {
      const float* const part = parts + 2 * share * rounded(count);
      for (int64_t i = 0; i < count; ++i) y[i] += part[i];
    }
  }
  size_t scratch_bytes() const override {
    const int64_t parts = thin_by_dots(product_) ? 0 : 2 * shares_ * rounded(product_.rows * product_.columns);
    return (rounded(product_.rows * product_.inner) + parts) * sizeof(float);
  }

 private:
  // Threads must not write to the same cache line.
  static int64_t rounded(int64_t floats) { return ir::round_up(floats, kCacheLine / 4); }

  ProductShape product_;
  ThinLoops loops_;
  int64_t shares_;
};

}  // namespace

std::unique_ptr<Kernel> make_thin_matmul(const ProductShape& shape) { return std::make_unique<ThinMatMul>(shape); }

}  // namespace alloy::cpu
#endif
