// The product of two matrices, whatever computes it.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// (rows, inner) times (inner, columns), of strides in elements of which one of each factor is 1. The result is packed
// row-major.
struct ProductShape {
  int64_t rows, inner, columns;
  int64_t a_row, a_column, b_row, b_column;
};

// The way that is fastest for matrices that are not small. Throws dnnl::error.
std::unique_ptr<Kernel> make_product(const ProductShape& shape);

}  // namespace alloy::cpu
