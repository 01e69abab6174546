// Matrix products, and distances between rows of bits.

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

@end
