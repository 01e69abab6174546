// Products with a left matrix of few rows, as for single samples: all they cost is to read the right matrix once.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

// The most rows of the left matrix that there are loops for.
inline constexpr int64_t kMostThinRows = 8;

// True if each result is the product of two rows: of a transposed right matrix, and of one that is a column.
inline bool thin_by_dots(const ProductShape& s) { return s.b_transposed() || s.columns == 1; }

// Of up to kMostThinRows rows; the right matrix is packed row-major, itself or its transpose.
std::unique_ptr<Kernel> make_thin_matmul(const ProductShape& shape);

}  // namespace alloy::cpu
