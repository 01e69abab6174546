// Products as formulas, of which those of matrices and of vectors are made.
#pragma once

#include "facade/mps/kernels.h"

namespace alloy::facade {

// result = alpha * op(left) * op(right) + beta * result, of arrays (matrices, rows, columns).
struct Product {
  bool transpose_left, transpose_right;
  double alpha, beta;
};

// The operand of a product: its elements and their type.
struct ProductArray {
  device::ArrayMemory memory;
  MPSDataType type;
};

// Encodes it; raises for types that it does not take.
void encode_product(id<MTLCommandBuffer> buffer, MPSKernel* kernel, const Product& product, const ProductArray& left,
                    const ProductArray& right, const ProductArray& result);

}  // namespace alloy::facade
