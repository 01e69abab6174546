// The product of the BLAS and that of a graph are the same.
#define ACCELERATE_NEW_LAPACK  // the names of before macOS 13.3 are the same
#include "tensor_data.h"

#import <Accelerate/Accelerate.h>

#include <cmath>
#include <vector>

int main() {
  @autoreleasepool {
    const int m = 5, n = 3, k = 4;
    std::vector<float> a(m * k), b(k * n), c(m * n, 1), v(k), w(m, 2);
    for (int i = 0; i < m * k; ++i) a[(size_t)i] = (float)(i % 7) - 3;
    for (int i = 0; i < k * n; ++i) b[(size_t)i] = (float)(i % 5) * 0.5f;
    for (int i = 0; i < k; ++i) v[(size_t)i] = (float)(i + 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 2, a.data(), k, b.data(), n, 0.5f, c.data(), n);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, m, k, 1, a.data(), k, v.data(), 1, 0, w.data(), 1);
    CHECK_NEAR(w[0], -3 * 1 - 2 * 2 - 1 * 3 + 0 * 4);

    MPSGraph* graph = [MPSGraph new];
    auto constant = [graph](const std::vector<float>& values, MPSShape* shape) {
      return [graph constantWithData:[NSData dataWithBytes:values.data() length:values.size() * sizeof(float)]
                               shape:shape
                            dataType:MPSDataTypeFloat32];
    };
    MPSGraphTensor* left = constant(a, @[ @(m), @(k) ]);
    MPSGraphTensor* product = [graph matrixMultiplicationWithPrimaryTensor:left
                                                           secondaryTensor:constant(b, @[ @(k), @(n) ])
                                                                      name:nil];
    MPSGraphTensor* column = [graph matrixMultiplicationWithPrimaryTensor:left
                                                          secondaryTensor:constant(v, @[ @(k), @1 ])
                                                                     name:nil];
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:@[ product, column ] targetOperations:nil];
    const float *products = floats_of(results[product]), *columns = floats_of(results[column]);
    for (int i = 0; i < m * n; ++i) CHECK_NEAR(c[(size_t)i], 2 * products[i] + 0.5);
    for (int i = 0; i < m; ++i) CHECK_NEAR(w[(size_t)i], columns[i]);
  }
}
