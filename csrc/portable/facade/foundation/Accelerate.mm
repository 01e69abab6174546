// The functions of Accelerate/Accelerate.h. They compute in the host's memory, with any device.

#import <Accelerate/Accelerate.h>

#include "cpu/onednn/blas.h"
#include "facade/errors.h"

using alloy::cpu::BlasMatrix;
using alloy::facade::raise_invalid;
using alloy::facade::refuse_fork;

namespace {

void multiply(NSString* function, int64_t m, int64_t n, int64_t k, float alpha, const BlasMatrix& a,
              const BlasMatrix& b, float beta, float* c, int64_t row) {
  refuse_fork();
  if (m == 0 || n == 0) return;
  if (alloy::cpu::multiply(m, n, k, alpha, a, b, beta, c, row)) return;
  raise_invalid(@"[%@] Sizes (%lld, %lld, %lld) with %lld, %lld and %lld elements from one row to the next do not fit.",
                function, static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k),
                static_cast<long long>(a.row), static_cast<long long>(b.row), static_cast<long long>(row));
}

}  // namespace

void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, int m, int n, int k,
                 float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const BlasMatrix left{a, lda, transpose_a != CblasNoTrans}, right{b, ldb, transpose_b != CblasNoTrans};
  // If columns are contiguous, the transposes have contiguous rows: C' = B' A'.
  if (order == CblasRowMajor) multiply(@"cblas_sgemm", m, n, k, alpha, left, right, beta, c, ldc);
  else multiply(@"cblas_sgemm", n, m, k, alpha, right, left, beta, c, ldc);
}

void cblas_sgemv(CBLAS_ORDER order, CBLAS_TRANSPOSE transpose, int m, int n, float alpha, const float* a, int lda,
                 const float* x, int incx, float beta, float* y, int incy) {
  if (incx < 1 || incy < 1) raise_invalid(@"[cblas_sgemv] Expected positive steps, but got %d and %d.", incx, incy);
  const bool transposed = transpose != CblasNoTrans;
  const BlasMatrix matrix{a, lda, (order == CblasRowMajor) == transposed}, column{x, incx, false};
  multiply(@"cblas_sgemv", transposed ? n : m, 1, transposed ? m : n, alpha, matrix, column, beta, y, incy);
}
