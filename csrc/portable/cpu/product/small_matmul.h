// Matrix products of our own, for small matrices.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// (rows, inner) times (inner, columns). Strides in elements; rows of the right matrix and of the result are contiguous.
struct SmallProduct {
  int64_t rows, inner, columns;
  int64_t a_row, a_column, b_row;
};
using SmallMultiply = void (*)(const SmallProduct& product, const float* a, const float* b, float* y);

// Multiplications up to which our one thread was faster than oneDNN's two.
inline constexpr int64_t kMostSmallProducts = int64_t{1} << 18;

// Above, one running sum for each element of the result would lose digits.
inline constexpr int64_t kLongestSmallSum = 1024;

// Null where the product is not small. The extents are those after transposition.
std::unique_ptr<Kernel> make_small_matmul(int64_t rows, int64_t inner, int64_t columns, bool transpose_a,
                                          bool transpose_b);

}  // namespace alloy::cpu
