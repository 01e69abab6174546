// Inverses of matrices.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

@implementation MPSGraph (MPSGraphMatrixInverseOps)

- (MPSGraphTensor*)inverseOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::OpCode::inverse, {value_of(self, tensor)}, {}, name);
}

@end
