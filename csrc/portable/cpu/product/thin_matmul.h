// Products with a left matrix of few rows, as for single samples: nearly all their time goes to reading the right
// matrix.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

// The most rows of the left matrix for which there are loops.
inline constexpr int64_t kMostThinRows = 8;

// True if each element of the result is the product of two contiguous rows: the right matrix is transposed or a column.
inline bool thin_by_dots(const ProductShape& s) { return s.b_transposed() || s.columns == 1; }

// For at most kMostThinRows rows. The right matrix or its transpose must be packed row-major.
std::unique_ptr<Kernel> make_thin_matmul(const ProductShape& shape);

}  // namespace alloy::cpu
