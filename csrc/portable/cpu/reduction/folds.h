// The inner loops of reductions: SIMD functions over contiguous rows and over columns, for each reduction of ops.def
// and each element type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/graph.h"

namespace alloy::cpu {

// A total has `total_bytes` bytes, at most kMostTotalBytes. Sums of floats have totals of double, so their error does
// not grow with the count; others have the element type. Only find_variance's fold uses centers, from which it measures
// distances.
inline constexpr size_t kMostTotalBytes = 16;
struct Fold {
  size_t total_bytes = 0;
  // Initialises totals, for a fold of no elements.
  void (*start)(std::byte* totals, int64_t count) = nullptr;
  // Folds `count` contiguous elements into one total, with one center.
  void (*row)(const std::byte* x, int64_t count, const std::byte* center, std::byte* total) = nullptr;
  // Folds `rows` rows, `stride` elements apart, of `columns` contiguous elements into one total for each column, with
  // one center for each.
  void (*columns)(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, const std::byte* centers,
                  std::byte* totals) = nullptr;
  // Folds `others` into `totals`.
  void (*merge)(const std::byte* others, int64_t count, std::byte* totals) = nullptr;
  // Writes the elements: each total divided by `divisor`, which is 1 except for means.
  void (*finish)(const std::byte* totals, int64_t count, double divisor, std::byte* elements) = nullptr;
};

// The fold of a reduction of the table; `start` is null if there is none for the type.
Fold find_fold(ir::OpCode code, ir::DType dtype);
// The fold of the variance. Its centers are approximate means; the closer they are, the more exact is the result.
Fold find_variance(ir::DType dtype);

// Folds `rows` contiguous rows of `count` elements each into one element for each row.
using RowsFunction = void (*)(const std::byte* x, int64_t rows, int64_t count, std::byte* y);
// Null unless the op is a reduction of float32 along whichever axes, which the caller knows.
RowsFunction find_row_fold(const ir::Op& op);

// The indices of the winners. The first of equal numbers wins. NaN never wins; the index is -1 if all are NaN.
struct ArgFold {
  void (*row)(const std::byte* x, int64_t count, int32_t* index) = nullptr;
  // Like Fold::columns; `columns` is at most kMostArgColumns.
  void (*columns)(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, int32_t* indices) = nullptr;
};
inline constexpr int64_t kMostArgColumns = 512;

ArgFold find_arg_fold(ir::OpCode code, ir::DType dtype);

}  // namespace alloy::cpu
