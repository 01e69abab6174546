// Accelerate's products of matrices and vectors against sums in double precision.

// Apple deprecates what its header declares without this.
#define ACCELERATE_NEW_LAPACK 1
#import <Accelerate/Accelerate.h>
#import <Foundation/Foundation.h>

#include <vector>

#include "check.h"

namespace {

std::vector<float> numbers(size_t count, int seed) {
  std::vector<float> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 11 - 5);
  return made;
}

// Where element (row, column) of a matrix lies.
size_t place(CBLAS_ORDER order, CBLAS_TRANSPOSE transpose, int row, int column, int distance) {
  if (transpose != CblasNoTrans) std::swap(row, column);
  if (order == CblasColMajor) std::swap(row, column);
  return static_cast<size_t>(row) * static_cast<size_t>(distance) + static_cast<size_t>(column);
}

// Elements from one row (or column) of a matrix of m x n, as it is stored, to the next.
int distance(CBLAS_ORDER order, CBLAS_TRANSPOSE transpose, int m, int n) {
  const bool rows = (order == CblasRowMajor) == (transpose == CblasNoTrans);
  return (rows ? n : m) + 3;
}

void products(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, float beta) {
  const int lda = distance(order, ta, m, k), ldb = distance(order, tb, k, n), ldc = distance(order, CblasNoTrans, m, n);
  const std::vector<float> a = numbers(4096, 1), b = numbers(4096, 2), before = numbers(4096, 3);
  std::vector<float> c = before, expected = before;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(a[place(order, ta, i, l, lda)]) * b[place(order, tb, l, j, ldb)];
      float& element = expected[place(order, CblasNoTrans, i, j, ldc)];
      element = static_cast<float>(alpha * sum + beta * element);
    }
  }
  cblas_sgemm(order, ta, tb, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  CHECK(c == expected);  // small integers: exact, and nothing between the rows is written
}

void vectors(CBLAS_ORDER order, CBLAS_TRANSPOSE transpose, int m, int n, int step_x, int step_y) {
  const int lda = distance(order, CblasNoTrans, m, n);
  const std::vector<float> a = numbers(2048, 4), x = numbers(256, 5), before = numbers(256, 6);
  std::vector<float> y = before, expected = before;
  const int rows = transpose == CblasNoTrans ? m : n, columns = transpose == CblasNoTrans ? n : m;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) {
      sum += double(a[place(order, transpose, i, j, lda)]) * x[static_cast<size_t>(j * step_x)];
    }
    float& element = expected[static_cast<size_t>(i * step_y)];
    element = static_cast<float>(2 * sum - element);
  }
  cblas_sgemv(order, transpose, m, n, 2, a.data(), lda, x.data(), step_x, -1, y.data(), step_y);
  CHECK(y == expected);
}

TEST(products_and_vectors) {
  for (const CBLAS_ORDER order : {CblasRowMajor, CblasColMajor}) {
    for (const CBLAS_TRANSPOSE ta : {CblasNoTrans, CblasTrans}) {
      for (const CBLAS_TRANSPOSE tb : {CblasNoTrans, CblasTrans}) {
        products(order, ta, tb, 5, 7, 3, 1, 0);
        products(order, ta, tb, 17, 1, 20, 2, -1);
        products(order, ta, tb, 1, 9, 1, -1, 3);
      }
      vectors(order, ta, 6, 9, 1, 1);
      vectors(order, ta, 9, 4, 2, 3);
    }
  }
}

}  // namespace

int main(int count, char** arguments) { return check::run(count, arguments); }
