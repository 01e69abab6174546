// Products with a left matrix of few rows, as for single samples: all they cost is to read the right matrix once.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// (rows, inner), of these strides, times (inner, columns), which is packed row-major, itself or its transpose.
struct ThinProduct {
  int64_t rows, inner, columns;
  int64_t a_row, a_column;
  bool transposed;
};

// Null where other ways are faster.
std::unique_ptr<Kernel> make_thin_matmul(const ThinProduct& product);

}  // namespace alloy::cpu
