// Matrix products of our own, for small matrices.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

// (rows, inner) times (inner, columns). Strides are in elements; rows of the right matrix and the result are
// contiguous. The product is added to the result if `adds`.
struct SmallProduct {
  int64_t rows, inner, columns;
  int64_t a_row, a_column, b_row, y_row;
  bool adds = false;
};
using SmallMultiply = void (*)(const SmallProduct& product, const float* a, const float* b, float* y);

// Above this, one running sum for each element of the result would lose digits.
inline constexpr int64_t kLongestSmallSum = 1024;

// The loops of the best instruction set that this processor has, and the columns that they compute at a time.
SmallMultiply small_multiply();
int64_t small_stripe_columns();

// For sums of at most kLongestSmallSum terms. The right matrix or its transpose must be packed row-major.
std::unique_ptr<Kernel> make_small_matmul(const ProductShape& shape);

}  // namespace alloy::cpu
