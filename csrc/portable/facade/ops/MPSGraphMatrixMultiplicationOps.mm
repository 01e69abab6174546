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
  std::vector<ir::Value> operands = {value_of(self, query), value_of(self, key), value_of(self, value)};
  if (mask != nil) operands.push_back(value_of(self, mask));
  return add(self, OpCode::scaled_dot_product_attention, operands, {{ir::Attr::kScale, double{scale}}}, name);
}

@end
