// Products of matrices in the host's memory, by oneDNN's BLAS-like interface.

#include "cpu/onednn/blas.h"

#include <oneapi/dnnl/dnnl.h>

namespace alloy::cpu {

bool multiply(int64_t m, int64_t n, int64_t k, float alpha, const BlasMatrix& a, const BlasMatrix& b, float beta,
              float* c, int64_t row) {
  const auto letter = [](const BlasMatrix& matrix) { return matrix.is_transposed ? 'T' : 'N'; };
  return dnnl_sgemm(letter(a), letter(b), m, n, k, alpha, a.elements, a.row, b.elements, b.row, beta, c, row) ==
         dnnl_success;
}

}  // namespace alloy::cpu
