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

- (MPSGraphTensor*)gatherNDWithUpdatesTensor:(MPSGraphTensor*)updates
                               indicesTensor:(MPSGraphTensor*)indices
                             batchDimensions:(NSUInteger)batchDimensions
                                        name:(NSString*)name {
  return add(self, OpCode::gather_nd, {value_of(self, updates), value_of(self, indices)},
             {{Attr::kBatchDims, static_cast<int64_t>(batchDimensions)}}, name);
}

@end

@implementation MPSGraph (MPSGraphGatherAlongAxisOps)

- (MPSGraphTensor*)gatherAlongAxis:(NSInteger)axis
                 withUpdatesTensor:(MPSGraphTensor*)updates
                     indicesTensor:(MPSGraphTensor*)indices
                              name:(NSString*)name {
  return add(self, ir::Composite::gather_along_axis, {value_of(self, updates), value_of(self, indices)},
             {{Attr::kAxis, int64_t{axis}}}, name);
}

FORWARD(MPSGraphTensor*, takes(gatherAlongAxisTensor),
        sends(gatherAlongAxis, number_in(self, gatherAlongAxisTensor, "gather_along_axis", "an axis")),
        passes(withUpdatesTensor), passes(indicesTensor), passes(name))

@end
