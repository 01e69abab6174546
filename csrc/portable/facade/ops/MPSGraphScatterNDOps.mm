// Elements added at tuples of indices.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

std::string word_of(MPSGraphScatterMode mode) {
  switch (mode) {
    case MPSGraphScatterModeAdd: return "add";
    case MPSGraphScatterModeSub: return "subtract";
    case MPSGraphScatterModeMul: return "multiply";
    case MPSGraphScatterModeDiv: return "divide";
    case MPSGraphScatterModeMin: return "minimum";
    case MPSGraphScatterModeMax: return "maximum";
    case MPSGraphScatterModeSet: return "set";
  }
  raise_invalid(@"[scatter] A mode from Add to Set was expected, got %ld.", static_cast<long>(mode));
}

}  // namespace

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

@implementation MPSGraph (MPSGraphScatterOps)

- (MPSGraphTensor*)scatterWithDataTensor:(MPSGraphTensor*)data
                           updatesTensor:(MPSGraphTensor*)updates
                           indicesTensor:(MPSGraphTensor*)indices
                                    axis:(NSInteger)axis
                                    mode:(MPSGraphScatterMode)mode
                                    name:(NSString*)name {
  return add(self, OpCode::scatter, {value_of(self, data), value_of(self, updates), value_of(self, indices)},
             {{Attr::kAxis, static_cast<int64_t>(axis)}, {Attr::kMode, word_of(mode)}}, name);
}

@end
