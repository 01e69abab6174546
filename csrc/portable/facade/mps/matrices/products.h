// Products as formulas, for the kernels of matrices and vectors.
#pragma once

#include "facade/mps/kernels.h"

namespace alloy::facade {

// result = alpha * op(left) * op(right) + beta * result, of arrays (matrices, rows, columns).
struct Product {
  bool transpose_left, transpose_right;
  double alpha, beta;
};

// An operand of a product: its elements and their type.
struct ProductArray {
  device::ArrayMemory memory;
  MPSDataType type;
};

// Encodes a product; raises for types that it does not accept.
void encode_product(id<MTLCommandBuffer> buffer, MPSKernel* kernel, const Product& product, const ProductArray& left,
                    const ProductArray& right, const ProductArray& result);

}  // namespace alloy::facade
