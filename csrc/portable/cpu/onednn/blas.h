// Products of matrices in the host's memory, for Accelerate's functions.
#pragma once

#include <cstdint>

namespace alloy::cpu {

// A matrix whose rows lie together, or its transpose.
struct BlasMatrix {
  const float* elements;
  int64_t row;  // elements from one row to the next
  bool is_transposed;
};

// c = alpha a b + beta c, where a is m x k, b k x n, and c m x n with `row` elements from one row to the next. False,
// with c as it was, where oneDNN refuses the sizes.
bool multiply(int64_t m, int64_t n, int64_t k, float alpha, const BlasMatrix& a, const BlasMatrix& b, float beta,
              float* c, int64_t row);

}  // namespace alloy::cpu
