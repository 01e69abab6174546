// The product of two matrices, whatever computes it; choice.h says what does.
#pragma once

#include <cstdint>

namespace alloy::cpu {

// (rows, inner) times (inner, columns), of strides in elements of which one of each factor is 1. The result is packed
// row-major.
struct ProductShape {
  int64_t rows, inner, columns;
  int64_t a_row, a_column, b_row, b_column;

  // True if elements of the right matrix's rows are apart.
  bool b_transposed() const { return b_column != 1 && columns > 1; }
};

}  // namespace alloy::cpu
