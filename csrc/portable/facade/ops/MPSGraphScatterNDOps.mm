// Elements added at tuples of indices.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphScatterNDOps)

- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updates
                                indicesTensor:(MPSGraphTensor*)indices
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         name:(NSString*)name {
  const ir::Value from = value_of(self, updates), like = unspecified(self, shape, from.dtype());
  return add(self, OpCode::scatter_nd, {from, value_of(self, indices), like},
             {{Attr::kBatchDims, static_cast<int64_t>(batchDimensions)}}, name);
}

@end
