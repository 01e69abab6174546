// softmax, log_softmax and softmax_cross_entropy along any axis: by rows if the axis is innermost, otherwise by blocks
// of columns.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax/softmax.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"
#include "cpu/simd/vocabulary-inl.h"

#ifndef ALLOY_KERNELS_SOFTMAX_ONCE_
#define ALLOY_KERNELS_SOFTMAX_ONCE_
namespace alloy::cpu {

inline constexpr int64_t kSoftmaxColumns = 256;
// In rows of at most this length, each lane of a vector takes a row of its own.
inline constexpr int64_t kShortRow = 16;

// The loops of an instruction set. Loops over columns take `rows` rows, `stride` elements apart, of at most
// kSoftmaxColumns columns.
struct SoftmaxLoops {
  void (*row)(const float* x, int64_t n, bool logarithm, float* y);
  void (*columns)(const float* x, int64_t rows, int64_t stride, int64_t columns, bool logarithm, float* y);
  void (*short_rows)(const float* x, int64_t rows, int64_t n, bool logarithm, float* y);
  // -sum(labels * log_softmax(x)). A label of 0 adds nothing, whatever x is.
  void (*row_loss)(const float* x, const float* labels, int64_t n, float* loss);
  void (*short_row_losses)(const float* x, const float* labels, int64_t rows, int64_t n, float* losses);
  void (*column_losses)(const float* x, const float* labels, int64_t rows, int64_t stride, int64_t columns,
                        float* losses);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// In blocks of this length, sums of float lanes are exact to a few ulp; blocks are added in double.
constexpr size_t kBlock = 1024;

HWY_INLINE float SumOf(Vec<FloatTag> v) { return hn::GetLane(hn::SumOfLanes(FloatTag(), v)); }

HWY_INLINE float RowMaximum(const float* x, size_t n) {
  const FloatTag d;
  auto greatest = Lowest(d);
  ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
    // If there is a NaN, the whole row becomes NaN, whatever this gives.
    greatest = hn::Max(LoadUpTo(d, x + i, count, Lowest(d)), greatest);
  });
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

// Sums f(i, count) over the vectors of [0, n).
template <class F>
HWY_INLINE double BlockedSum(size_t n, const F& f) {
  double total = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    auto sum = Zero(FloatTag());
    ForVectors(FloatTag(), std::min(kBlock, n - begin),
               [&](size_t i, size_t count) HWY_ATTR { sum = hn::Add(sum, f(begin + i, count)); });
    total += SumOf(sum);
  }
  return total;
}

// e^(x - greatest), and 0 in unused lanes.
HWY_INLINE Vec<FloatTag> ShiftedExp(const float* x, size_t count, Vec<FloatTag> greatest) {
  const FloatTag d;
  return Exp(d, hn::Sub(LoadUpTo(d, x, count, Lowest(d)), greatest));
}

// The sum under the logarithm in two parts: the greatest elements, each of which gives 1, and the others, which may be
// too small to change a 1. log(sum) is log1p(others + (ones - 1)).
struct Sums {
  Vec<FloatTag> ones, others;

  // Adds elements less the greatest one, and their exponentials.
  HWY_INLINE void Take(Vec<FloatTag> shifted, Vec<FloatTag> exponentials) {
    const auto is_greatest = hn::Eq(shifted, Zero(FloatTag()));
    ones = hn::Add(ones, hn::IfThenElseZero(is_greatest, One(FloatTag())));
    others = hn::Add(others, hn::IfThenZeroElse(is_greatest, exponentials));
  }
};

// log(1 + x) for x >= 0, also where 1 + x rounds (Kahan).
HWY_INLINE Vec<FloatTag> Log1p(Vec<FloatTag> x) {
  const FloatTag d;
  const auto sum = hn::Add(x, One(d)), seen = hn::Sub(sum, One(d));
  return hn::IfThenElse(hn::Eq(seen, Zero(d)), x, hn::Mul(Log(d, sum), hn::Div(x, seen)));
}

// The logarithm of the sum of e^(x - greatest).
HWY_INLINE float RowLogSum(const float* x, size_t n, float greatest) {
  const FloatTag d;
  const auto m = hn::Set(d, greatest);
  double ones = 0, others = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    Sums sums{Zero(d), Zero(d)};
    ForVectors(d, std::min(kBlock, n - begin), [&](size_t i, size_t count) HWY_ATTR {
      const auto shifted = hn::Sub(LoadUpTo(d, x + begin + i, count, Lowest(d)), m);
      sums.Take(shifted, Exp(d, shifted));
    });
    ones += SumOf(sums.ones);
    others += SumOf(sums.others);
  }
  return static_cast<float>(std::log1p(others + (ones - 1)));
}

void SoftmaxRow(const float* x, int64_t size, bool logarithm, float* y) {
  const FloatTag d;
  const size_t n = size;
  const float greatest = RowMaximum(x, n);
  const auto m = hn::Set(d, greatest);
  if (logarithm) {
    const auto log_sum = hn::Set(d, RowLogSum(x, n, greatest));
    ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
      StoreUpTo(d, hn::Sub(hn::Sub(LoadUpTo(d, x + i, count, m), m), log_sum), count, y + i);
    });
    return;
  }
  const double sum = BlockedSum(n, [&](size_t i, size_t count) HWY_ATTR {
    const auto e = ShiftedExp(x + i, count, m);
    StoreUpTo(d, e, count, y + i);
    return e;
  });
  const auto divisor = hn::Set(d, static_cast<float>(sum));
  ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
    StoreUpTo(d, hn::Div(LoadUpTo(d, y + i, count, m), divisor), count, y + i);
  });
}

// labels * (x - greatest - log_sum).
HWY_INLINE Vec<FloatTag> LossOf(Vec<FloatTag> x, Vec<FloatTag> labels, Vec<FloatTag> greatest, Vec<FloatTag> log_sum) {
  const auto product = hn::Mul(labels, hn::Sub(hn::Sub(x, greatest), log_sum));
  return hn::IfThenElse(hn::Eq(labels, Zero(FloatTag())), Zero(FloatTag()), product);
}

void LossRow(const float* x, const float* labels, int64_t size, float* loss) {
  const FloatTag d;
  const size_t n = size;
  const float greatest = RowMaximum(x, n);
  const auto m = hn::Set(d, greatest);
  const auto log_sum = hn::Set(d, RowLogSum(x, n, greatest));
  *loss = static_cast<float>(-BlockedSum(n, [&](size_t i, size_t count) HWY_ATTR {
    return LossOf(LoadUpTo(d, x + i, count, m), LoadUpTo(d, labels + i, count, Zero(d)), m, log_sum);
  }));
}

// ---- short rows ----

// One element of each of several rows, one row for each lane.
HWY_INLINE Vec<FloatTag> Across(const float* x, int64_t n) {
  const hn::RebindToSigned<FloatTag> di;
  return hn::GatherIndex(FloatTag(), x, hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(n))));
}

// Rows less their maxima, and the exponentials.
struct ShortRows {
  Vec<FloatTag> shifted[kShortRow], exponentials[kShortRow];

  HWY_INLINE ShortRows(const float* x, int64_t n) {
    const FloatTag d;
    auto greatest = Lowest(d);
    for (int64_t j = 0; j < n; ++j) {
      shifted[j] = Across(x + j, n);
      greatest = hn::Max(shifted[j], greatest);
    }
    for (int64_t j = 0; j < n; ++j) {
      shifted[j] = hn::Sub(shifted[j], greatest);
      exponentials[j] = Exp(d, shifted[j]);
    }
  }

  HWY_INLINE Vec<FloatTag> Sum(int64_t n) const {
    auto sum = Zero(FloatTag());
    for (int64_t j = 0; j < n; ++j) sum = hn::Add(sum, exponentials[j]);
    return sum;
  }
  HWY_INLINE Vec<FloatTag> LogSum(int64_t n) const {
    Sums sums{Zero(FloatTag()), Zero(FloatTag())};
    for (int64_t j = 0; j < n; ++j) sums.Take(shifted[j], exponentials[j]);
    return Log1p(hn::Add(sums.others, hn::Sub(sums.ones, One(FloatTag()))));
  }
};

void SoftmaxShortRows(const float* x, int64_t rows, int64_t n, bool logarithm, float* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const int64_t lanes = hn::Lanes(d);
  const auto places = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(n)));
  int64_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    const ShortRows r(x + row * n, n);
    const auto sum = logarithm ? r.LogSum(n) : r.Sum(n);
    for (int64_t j = 0; j < n; ++j) {
      const auto v = logarithm ? hn::Sub(r.shifted[j], sum) : hn::Div(r.exponentials[j], sum);
      hn::ScatterIndex(v, d, y + row * n + j, places);
    }
  }
  for (; row < rows; ++row) SoftmaxRow(x + row * n, n, logarithm, y + row * n);
}

void LossShortRows(const float* x, const float* labels, int64_t rows, int64_t n, float* losses) {
  const FloatTag d;
  const int64_t lanes = hn::Lanes(d);
  int64_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    const ShortRows r(x + row * n, n);
    const auto log_sum = r.LogSum(n);
    auto total = Zero(d);
    for (int64_t j = 0; j < n; ++j) {
      total = hn::Sub(total, LossOf(r.shifted[j], Across(labels + row * n + j, n), Zero(d), log_sum));
    }
    hn::StoreU(total, d, losses + row);
  }
  for (; row < rows; ++row) LossRow(x + row * n, labels + row * n, n, losses + row);
}

// ---- columns ----

// Running results of a block of columns. `sum` is the sum of the exponentials, or its logarithm.
struct Columns {
  HWY_ALIGN float greatest[kSoftmaxColumns];
  HWY_ALIGN float sum[kSoftmaxColumns];
};

// Calls body(i, count, x of the row, y of the row) for the vectors of every row.
template <class Body>
HWY_INLINE void ForRows(int64_t rows, int64_t stride, int64_t columns, const Body& body) {
  for (int64_t r = 0; r < rows; ++r) {
    ForVectors(FloatTag(), columns,
               [&](size_t i, size_t count) HWY_ATTR { body(i, count, r * stride + static_cast<int64_t>(i)); });
  }
}

HWY_INLINE void FindGreatest(const float* x, int64_t rows, int64_t stride, int64_t columns, Columns& c) {
  const FloatTag d;
  std::fill_n(c.greatest, kSoftmaxColumns, LowestOf<float>());
  ForRows(rows, stride, columns, [&](size_t i, size_t count, int64_t at) HWY_ATTR {
    hn::Store(hn::Max(LoadUpTo(d, x + at, count, Zero(d)), hn::Load(d, c.greatest + i)), d, c.greatest + i);
  });
}

HWY_INLINE void FindSums(const float* x, int64_t rows, int64_t stride, int64_t columns, Columns& c) {
  const FloatTag d;
  FindGreatest(x, rows, stride, columns, c);
  std::fill_n(c.sum, kSoftmaxColumns, 0.0f);
  ForRows(rows, stride, columns, [&](size_t i, size_t count, int64_t at) HWY_ATTR {
    hn::Store(hn::Add(hn::Load(d, c.sum + i), ShiftedExp(x + at, count, hn::Load(d, c.greatest + i))), d, c.sum + i);
  });
}

HWY_INLINE void FindLogSums(const float* x, int64_t rows, int64_t stride, int64_t columns, Columns& c) {
  const FloatTag d;
  FindGreatest(x, rows, stride, columns, c);
  HWY_ALIGN float ones[kSoftmaxColumns] = {};
  HWY_ALIGN float others[kSoftmaxColumns] = {};
  ForRows(rows, stride, columns, [&](size_t i, size_t count, int64_t at) HWY_ATTR {
    Sums sums{hn::Load(d, ones + i), hn::Load(d, others + i)};
    const auto shifted = hn::Sub(LoadUpTo(d, x + at, count, Lowest(d)), hn::Load(d, c.greatest + i));
    sums.Take(shifted, Exp(d, shifted));
    hn::Store(sums.ones, d, ones + i);
    hn::Store(sums.others, d, others + i);
  });
  for (int64_t i = 0; i < columns; ++i) c.sum[i] = std::log1p(others[i] + (ones[i] - 1));
}

void SoftmaxColumns(const float* x, int64_t rows, int64_t stride, int64_t columns, bool logarithm, float* y) {
  const FloatTag d;
  Columns c;
  if (logarithm) FindLogSums(x, rows, stride, columns, c);
  else FindSums(x, rows, stride, columns, c);
  ForRows(rows, stride, columns, [&](size_t i, size_t count, int64_t at) HWY_ATTR {
    const auto m = hn::Load(d, c.greatest + i), sum = hn::Load(d, c.sum + i);
    const auto v = logarithm ? hn::Sub(hn::Sub(LoadUpTo(d, x + at, count, m), m), sum)
                             : hn::Div(ShiftedExp(x + at, count, m), sum);
    StoreUpTo(d, v, count, y + at);
  });
}

void LossColumns(const float* x, const float* labels, int64_t rows, int64_t stride, int64_t columns, float* losses) {
  const FloatTag d;
  Columns c;
  FindLogSums(x, rows, stride, columns, c);
  HWY_ALIGN float totals[kSoftmaxColumns] = {};
  ForRows(rows, stride, columns, [&](size_t i, size_t count, int64_t at) HWY_ATTR {
    const auto m = hn::Load(d, c.greatest + i);
    const auto loss =
        LossOf(LoadUpTo(d, x + at, count, m), LoadUpTo(d, labels + at, count, Zero(d)), m, hn::Load(d, c.sum + i));
    hn::Store(hn::Sub(hn::Load(d, totals + i), loss), d, totals + i);
  });
  std::memcpy(losses, totals, columns * sizeof(float));
}

SoftmaxLoops FindSoftmaxLoops() {
  return {&SoftmaxRow, &SoftmaxColumns, &SoftmaxShortRows, &LossRow, &LossShortRows, &LossColumns};
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindSoftmaxLoops);

namespace {

using ir::Attr;
using ir::Op;

// A shape divided at one axis.
struct Axes {
  int64_t outer = 1, extent = 1, inner = 1;

  explicit Axes(const Op& op) {
    const ir::Shape& shape = op.operands[0].shape();
    const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), shape.rank());
    for (int64_t i = 0; i < shape.rank(); ++i) (i < axis ? outer : i > axis ? inner : extent) *= shape[i];
    blocks = ir::divide_up(inner, kSoftmaxColumns);
  }

  int64_t blocks;  // blocks of columns, for each outer index

  bool has_short_rows() const { return inner == 1 && extent > 0 && extent <= kShortRow; }

  // Calls body(first row, rows) for blocks of rows that fill whole vectors.
  template <class Body>
  void for_short_rows(const Body& body) const {
    constexpr int64_t kRows = 64;
    parallel_for(ir::divide_up(outer, kRows), kRows * extent * 2, [&](int64_t begin, int64_t end) {
      body(begin * kRows, std::min(end * kRows, outer) - begin * kRows);
    });
  }

  // Calls body(offset in the data, offset in arrays with one element per column, columns) for every row or block of
  // columns.
  template <class Body>
  void for_each(const Body& body) const {
    parallel_for(outer * blocks, extent * std::min(inner, kSoftmaxColumns) * 8, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t unit = task / blocks, from = task % blocks * kSoftmaxColumns;
        body(unit * extent * inner + from, unit * inner + from, std::min(kSoftmaxColumns, inner - from));
      }
    });
  }
};

class Softmax final : public Kernel {
 public:
  Softmax(const Op& op, bool logarithm)
      : axes_(op), logarithm_(logarithm), loops_(HWY_DYNAMIC_DISPATCH(FindSoftmaxLoops)()) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* x = reinterpret_cast<const float*>(operands[0]);
    auto* y = reinterpret_cast<float*>(results[0]);
    const int64_t n = axes_.extent;
    if (axes_.has_short_rows()) {
      return axes_.for_short_rows(
          [&](int64_t row, int64_t rows) { loops_.short_rows(x + row * n, rows, n, logarithm_, y + row * n); });
    }
    axes_.for_each([&](int64_t at, int64_t, int64_t columns) {
      if (axes_.inner == 1) loops_.row(x + at, axes_.extent, logarithm_, y + at);
      else loops_.columns(x + at, axes_.extent, axes_.inner, columns, logarithm_, y + at);
    });
  }
  bool in_place(size_t, size_t) const override { return true; }

 private:
  Axes axes_;
  bool logarithm_;
  SoftmaxLoops loops_;
};

// Computes a loss for each sample, in the result or in scratch; a reduction adds them up in a fixed order.
class SoftmaxCrossEntropy final : public Kernel {
 public:
  explicit SoftmaxCrossEntropy(const Op& op) : axes_(op), loops_(HWY_DYNAMIC_DISPATCH(FindSoftmaxLoops)()) {
    const std::string& reduction = op.attributes.word(Attr::kReduction);
    keeps_ = reduction == "none";
    divisor_ = reduction == "mean" ? static_cast<double>(axes_.outer * axes_.inner) : 1;
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto* x = reinterpret_cast<const float*>(operands[0]);
    const auto* labels = reinterpret_cast<const float*>(operands[1]);
    auto* losses = reinterpret_cast<float*>(keeps_ ? results[0] : scratch);
    const int64_t n = axes_.extent;
    if (axes_.has_short_rows()) {
      axes_.for_short_rows([&](int64_t row, int64_t rows) {
        loops_.short_row_losses(x + row * n, labels + row * n, rows, n, losses + row);
      });
    } else {
      axes_.for_each([&](int64_t at, int64_t sample, int64_t columns) {
        if (axes_.inner == 1) loops_.row_loss(x + at, labels + at, axes_.extent, losses + sample);
        else loops_.column_losses(x + at, labels + at, axes_.extent, axes_.inner, columns, losses + sample);
      });
    }
    if (keeps_) return;
    double total = 0;
    for (int64_t i = 0; i < axes_.outer * axes_.inner; ++i) total += losses[i];
    *reinterpret_cast<float*>(results[0]) = static_cast<float>(total / divisor_);
  }
  size_t scratch_bytes() const override { return keeps_ ? 0 : axes_.outer * axes_.inner * sizeof(float); }

 private:
  Axes axes_;
  SoftmaxLoops loops_;
  bool keeps_;
  double divisor_;
};

}  // namespace

std::unique_ptr<Kernel> make_softmax(const Op& op) {
  require_float(op);
  return std::make_unique<Softmax>(op, false);
}

std::unique_ptr<Kernel> make_log_softmax(const Op& op) {
  require_float(op);
  return std::make_unique<Softmax>(op, true);
}

std::unique_ptr<Kernel> make_softmax_cross_entropy(const Op& op) {
  require_float(op);
  return std::make_unique<SoftmaxCrossEntropy>(op);
}

}  // namespace alloy::cpu
#endif
