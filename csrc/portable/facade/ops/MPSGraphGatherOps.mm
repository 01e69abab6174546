// Elements taken by indices.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphGatherOps)

- (MPSGraphTensor*)gatherWithUpdatesTensor:(MPSGraphTensor*)updates
                             indicesTensor:(MPSGraphTensor*)indices
                                      axis:(NSUInteger)axis
                           batchDimensions:(NSUInteger)batchDimensions
                                      name:(NSString*)name {
  return add(self, OpCode::gather, {value_of(self, updates), value_of(self, indices)},
             {{Attr::kAxis, static_cast<int64_t>(axis)}, {Attr::kBatchDims, static_cast<int64_t>(batchDimensions)}},
             name);
}

@end
