// The inner loops of reductions: SIMD functions over contiguous rows and over columns, for each reduction of
// ops.def and element type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/op.h"

namespace alloy::cpu {

// Totals are running results, `total_bytes` each, kMostTotalBytes at most: double for float sums, whose error then
// does not grow with the count, else the element type. `centers` are what find_variance's fold measures distances
// from; others do not look at them.
inline constexpr size_t kMostTotalBytes = 16;
struct Fold {
  size_t total_bytes = 0;
  // Sets totals to what the fold of nothing is.
  void (*start)(std::byte* totals, int64_t count) = nullptr;
  // Folds `count` contiguous elements into one total; one center.
  void (*row)(const std::byte* x, int64_t count, const std::byte* center, std::byte* total) = nullptr;
  // Folds `rows` rows, `stride` elements apart, of `columns` contiguous elements into a total for each
  // column; a center for each.
  void (*columns)(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, const std::byte* centers,
                  std::byte* totals) = nullptr;
  // Folds other totals into totals.
  void (*merge)(const std::byte* others, int64_t count, std::byte* totals) = nullptr;
  // Writes elements: each total divided by `divisor`, which is 1 for anything but means.
  void (*finish)(const std::byte* totals, int64_t count, double divisor, std::byte* elements) = nullptr;
};

// The fold of a row of reductions; start is null where there is none for the type.
Fold find_fold(ir::OpCode code, ir::DType dtype);
// The variance. Its centers are the means, to a few digits more than the deviations have: the nearer, the more exact.
Fold find_variance(ir::DType dtype);

// Positions of the winners, of the first on ties; a NaN never wins, and -1 stands for all NaN.
struct ArgFold {
  void (*row)(const std::byte* x, int64_t count, int32_t* index) = nullptr;
  // As Fold::columns; `columns` at most kMostArgColumns.
  void (*columns)(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, int32_t* indices) = nullptr;
};
inline constexpr int64_t kMostArgColumns = 512;

ArgFold find_arg_fold(ir::OpCode code, ir::DType dtype);

}  // namespace alloy::cpu
