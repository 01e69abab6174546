// Products as formulas.

#include "facade/mps/matrices/products.h"

namespace alloy::facade {

namespace {

bool is_factor(MPSDataType type) {
  return is_float(type) || type == MPSDataTypeInt8 || type == MPSDataTypeInt16 || type == MPSDataTypeUInt8 ||
         type == MPSDataTypeUInt16;
}

}  // namespace

void encode_product(id<MTLCommandBuffer> buffer, MPSKernel* kernel, const Product& product, const ProductArray& left,
                    const ProductArray& right, const ProductArray& result) {
  if (!is_factor(left.type) || !is_factor(right.type) || !is_float(result.type)) {
    raise_invalid(@"[MPSMatrixMultiplication] The data types are 0x%x, 0x%x and 0x%x, but products of Float32, Float16 "
                  @"and integers of 8 or 16 bits are Float32 or Float16.",
                  static_cast<unsigned>(left.type), static_cast<unsigned>(right.type),
                  static_cast<unsigned>(result.type));
  }
  std::vector<runtime::TypedArray> inputs{typed(left.memory, left.type), typed(right.memory, right.type)};
  const runtime::TypedArray written = typed(result.memory, result.type);
  if (product.beta != 0) inputs.push_back(written);
  const auto formula = [product](const std::vector<ir::Expr>& x) {
    const auto wide = [&](size_t i) { return ir::cast(x[i], ir::DType::float32); };
    ir::Expr y = ir::matmul(wide(0), wide(1), product.transpose_left, product.transpose_right);
    if (product.alpha != 1) y = y * product.alpha;
    return product.beta != 0 ? y + wide(2) * product.beta : y;
  };
  encode_formula(buffer, formulas_of(kernel),
                 {product.transpose_left ? 1.0 : 0.0, product.transpose_right ? 1.0 : 0.0, product.alpha, product.beta},
                 formula, inputs, written);
}

}  // namespace alloy::facade
