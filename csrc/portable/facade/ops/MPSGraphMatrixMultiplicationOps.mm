// Matrix products, attention, and distances between rows of bits.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::OpCode;

@implementation MPSGraph (MPSGraphMatrixMultiplicationOps)

- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primary
                                         secondaryTensor:(MPSGraphTensor*)secondary
                                                    name:(NSString*)name {
  return add(self, OpCode::matmul, {value_of(self, primary), value_of(self, secondary)}, {}, name);
}

- (MPSGraphTensor*)HammingDistanceWithPrimaryTensor:(MPSGraphTensor*)primary
                                    secondaryTensor:(MPSGraphTensor*)secondary
                                     resultDataType:(MPSDataType)resultDataType
                                               name:(NSString*)name {
  return add(self, ir::Composite::hamming_distance, {value_of(self, primary), value_of(self, secondary)},
             {{ir::Attr::kDtype, dtype_of(resultDataType)}}, name);
}

FORWARD(MPSGraphTensor*, passes(scaledDotProductAttentionWithQueryTensor), passes(keyTensor), passes(valueTensor),
        sends(maskTensor, nil), passes(scale, float), passes(name))

- (MPSGraphTensor*)scaledDotProductAttentionWithQueryTensor:(MPSGraphTensor*)query
                                                  keyTensor:(MPSGraphTensor*)key
                                                valueTensor:(MPSGraphTensor*)value
                                                 maskTensor:(MPSGraphTensor*)mask
                                                      scale:(float)scale
                                                       name:(NSString*)name {
  const ir::Expr q = expr_of(self, query), k = expr_of(self, key), v = expr_of(self, value);
  const ir::Expr m = mask == nil ? ir::none : expr_of(self, mask);
  const auto work = [scale](ir::Expr q, ir::Expr k, ir::Expr v, ir::Expr m) {
    const ir::Expr scores = ir::matmul(q, k, false, true) * double{scale};
    // No imitation takes it for an attention of two products (quirk product_of_softmax).
    return ir::matmul(ir::identity(ir::softmax(m ? scores + m : scores, -1)), v);
  };
  return compose(self, name, [&] { return ir::rounded_once(work, q, k, v, m); });
}

@end
