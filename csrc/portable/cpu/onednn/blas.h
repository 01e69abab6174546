// Products of matrices in the host's memory, for Accelerate's functions.
#pragma once

#include <cstdint>

namespace alloy::cpu {

// A matrix whose rows are contiguous, or its transpose.
struct BlasMatrix {
  const float* elements;
  int64_t row;  // distance of rows, in elements
  bool is_transposed;
};

// c = alpha a b + beta c, where a is m x k, b is k x n, and c is m x n with rows `row` elements apart. Returns false,
// without changing c, if oneDNN refuses the sizes.
bool multiply(int64_t m, int64_t n, int64_t k, float alpha, const BlasMatrix& a, const BlasMatrix& b, float beta,
              float* c, int64_t row);

}  // namespace alloy::cpu
