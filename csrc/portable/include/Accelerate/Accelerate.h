// Products of matrices and vectors of single precision from Apple's Accelerate, computed by oneDNN. vDSP, vImage,
// LAPACK and double precision are missing.
#pragma once

#ifdef __cplusplus
#define ACCELERATE_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define ACCELERATE_EXPORT extern __attribute__((visibility("default")))
#endif

/// Order of a matrix in memory: by rows or by columns.
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
/// Whether a matrix is transposed.
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };

// Other libraries of the program may define functions of these names.
#define cblas_sgemm alloy_cblas_sgemm
#define cblas_sgemv alloy_cblas_sgemv

/// C = alpha op(A) op(B) + beta C, where op(A) is m x k and op(B) is k x n. lda, ldb and ldc are the distances between
/// rows (columns), in elements.
ACCELERATE_EXPORT void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transpose_a,
                                   enum CBLAS_TRANSPOSE transpose_b, int m, int n, int k, float alpha, const float* a,
                                   int lda, const float* b, int ldb, float beta, float* c, int ldc);

/// y = alpha op(A) x + beta y, where A is m x n. incx and incy are the distances between elements of the vectors.
ACCELERATE_EXPORT void cblas_sgemv(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transpose, int m, int n, float alpha,
                                   const float* a, int lda, const float* x, int incx, float beta, float* y, int incy);
