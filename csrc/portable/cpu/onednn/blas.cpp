// Products of matrices in the host's memory, by oneDNN's BLAS-like interface.

#include "cpu/onednn/blas.h"

#include <atomic>

#include "cpu/onednn/onednn.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {

bool multiply(int64_t m, int64_t n, int64_t k, float alpha, const BlasMatrix& a, const BlasMatrix& b, float beta,
              float* c, int64_t row) {
  const auto letter = [](const BlasMatrix& matrix) { return matrix.is_transposed ? 'T' : 'N'; };
  std::atomic<bool> done = true;
  parallel_for(m, n * k / 8 + 1, [&](int64_t begin, int64_t end) {
    const OnednnCall alone;
    const float* const rows = a.elements + begin * (a.is_transposed ? 1 : a.row);
    if (dnnl_sgemm(letter(a), letter(b), end - begin, n, k, alpha, rows, a.row, b.elements, b.row, beta,
                   c + begin * row, row) != dnnl_success) {
      done = false;
    }
  });
  return done;
}

}  // namespace alloy::cpu
