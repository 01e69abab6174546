// Products of matrices so small that preparing oneDNN's call takes longer than the arithmetic. They run on the caller's
// thread.
#include <cstring>

#include "cpu/families.h"
#include "cpu/product/small_matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/product/small_matmul.cpp"
#include "cpu/simd/targets.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// Computes `rows` rows and up to `vectors` vectors of the result in registers; the last vector has `last` lanes.
template <size_t rows, size_t vectors>
HWY_INLINE void Block(const SmallProduct& p, const float* a, const float* b, size_t last, float* y) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<FloatTag> sums[rows][vectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  if (p.adds) {
    for (size_t r = 0; r < rows; ++r) hwy::Prefetch(y + static_cast<int64_t>(r) * p.y_row);
  }
  for (int64_t k = 0; k < p.inner; ++k) {
    hn::Vec<FloatTag> right[vectors];
    for (size_t v = 0; v + 1 < vectors; ++v) right[v] = hn::LoadU(d, b + k * p.b_row + static_cast<int64_t>(v * lanes));
    right[vectors - 1] = LoadUpTo(d, b + k * p.b_row + static_cast<int64_t>((vectors - 1) * lanes), last, hn::Zero(d));
    for (size_t r = 0; r < rows; ++r) {
      const auto left = hn::Set(d, a[static_cast<int64_t>(r) * p.a_row + k * p.a_column]);
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    float* to = y + static_cast<int64_t>(r) * p.y_row;
    float* const end = to + (vectors - 1) * lanes;
    if (p.adds) {
      for (size_t v = 0; v + 1 < vectors; ++v) sums[r][v] = hn::Add(sums[r][v], hn::LoadU(d, to + v * lanes));
      sums[r][vectors - 1] = hn::Add(sums[r][vectors - 1], LoadUpTo(d, end, last, hn::Zero(d)));
    }
    for (size_t v = 0; v + 1 < vectors; ++v) hn::StoreU(sums[r][v], d, to + v * lanes);
    StoreUpTo(d, sums[r][vectors - 1], last, end);
  }
}

template <size_t vectors>
HWY_INLINE void Stripe(const SmallProduct& p, const float* a, const float* b, size_t last, float* y) {
  int64_t row = 0;
  for (; row + 6 <= p.rows; row += 6) Block<6, vectors>(p, a + row * p.a_row, b, last, y + row * p.y_row);
  for (; row + 2 <= p.rows; row += 2) Block<2, vectors>(p, a + row * p.a_row, b, last, y + row * p.y_row);
  if (row < p.rows) Block<1, vectors>(p, a + row * p.a_row, b, last, y + row * p.y_row);
}

void Multiply(const SmallProduct& p, const float* a, const float* b, float* y) {
  const int64_t lanes = hn::Lanes(FloatTag());
  for (int64_t column = 0; column < p.columns;) {
    const int64_t left = p.columns - column;
    if (left > lanes) {
      const int64_t width = std::min(left, 2 * lanes);
      Stripe<2>(p, a, b + column, width - lanes, y + column);
      column += width;
    } else {
      Stripe<1>(p, a, b + column, left, y + column);
      column += left;
    }
  }
}

SmallMultiply FindSmallMultiply() { return &Multiply; }
int64_t SmallStripeColumns() { return 2 * hn::Lanes(FloatTag()); }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindSmallMultiply);
HWY_EXPORT(SmallStripeColumns);

namespace {

class SmallMatMul final : public Kernel {
 public:
  // If the elements of the right matrix's rows are not contiguous, it is transposed into scratch first.
  SmallMatMul(const SmallProduct& product, bool transposed)
      : product_(product), multiply_(small_multiply()), transposed_(transposed) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto* b = reinterpret_cast<const float*>(operands[1]);
    if (transposed_) {
      auto* turned = reinterpret_cast<float*>(scratch);
      for (int64_t column = 0; column < product_.columns; ++column) {
        for (int64_t k = 0; k < product_.inner; ++k) {
          turned[k * product_.columns + column] = b[column * product_.inner + k];
        }
      }
      b = turned;
    }
    multiply_(product_, reinterpret_cast<const float*>(operands[0]), b, reinterpret_cast<float*>(results[0]));
  }
  size_t scratch_bytes() const override { return transposed_ ? product_.inner * product_.columns * sizeof(float) : 0; }

 private:
  SmallProduct product_;
  SmallMultiply multiply_;
  bool transposed_;
};

}  // namespace

SmallMultiply small_multiply() { return HWY_DYNAMIC_DISPATCH(FindSmallMultiply)(); }
int64_t small_stripe_columns() { return HWY_DYNAMIC_DISPATCH(SmallStripeColumns)(); }

std::unique_ptr<Kernel> make_small_matmul(const ProductShape& s) {
  const SmallProduct product{s.rows, s.inner, s.columns, s.a_row, s.a_column, s.columns, s.columns};
  return std::make_unique<SmallMatMul>(product, s.b_transposed());
}

}  // namespace alloy::cpu
#endif
