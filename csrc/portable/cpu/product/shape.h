// The shape of a product of two matrices, whatever computes it (see choice.h).
#pragma once

#include <cstdint>

namespace alloy::cpu {

// (rows, inner) times (inner, columns). Strides are in elements; one of each factor's strides is 1. The result is
// packed row-major.
struct ProductShape {
  int64_t rows, inner, columns;
  int64_t a_row, a_column, b_row, b_column;

  // May exceed int64_t.
  double multiplications() const {
    return static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
  }
  // True if the elements of the right matrix's rows are not contiguous.
  bool b_transposed() const { return b_column != 1 && columns > 1; }
};

}  // namespace alloy::cpu
