// Updates combined with the elements at indices.

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

// A tensor of the shape and the updates' type, filled with the mode's neutral value.
MPSGraphTensor* start_of(MPSGraph* self, MPSGraphTensor* updates, MPSShape* shape, MPSGraphScatterMode mode) {
  return add(self, ir::Composite::scatter_start, {value_of(self, updates)},
             {{Attr::kShape, shape_of(shape)}, {Attr::kMode, word_of(mode)}}, nil);
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

- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updates
                                indicesTensor:(MPSGraphTensor*)indices
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         mode:(MPSGraphScatterMode)mode
                                         name:(NSString*)name {
  if (mode == MPSGraphScatterModeAdd) {
    return [self scatterNDWithUpdatesTensor:updates
                              indicesTensor:indices
                                      shape:shape
                            batchDimensions:batchDimensions
                                       name:name];
  }
  return [self scatterNDWithDataTensor:start_of(self, updates, shape, mode)
                         updatesTensor:updates
                         indicesTensor:indices
                       batchDimensions:batchDimensions
                                  mode:mode
                                  name:name];
}

- (MPSGraphTensor*)scatterNDWithDataTensor:(MPSGraphTensor*)data
                             updatesTensor:(MPSGraphTensor*)updates
                             indicesTensor:(MPSGraphTensor*)indices
                           batchDimensions:(NSUInteger)batchDimensions
                                      mode:(MPSGraphScatterMode)mode
                                      name:(NSString*)name {
  return add(self, OpCode::scatter_nd_update, {value_of(self, data), value_of(self, updates), value_of(self, indices)},
             {{Attr::kBatchDims, static_cast<int64_t>(batchDimensions)}, {Attr::kMode, word_of(mode)}}, name);
}

@end

@implementation MPSGraph (MPSGraphScatterOps)

FORWARD(MPSGraphTensor*, takes(scatterWithUpdatesTensor),
        sends(scatterWithDataTensor, start_of(self, scatterWithUpdatesTensor, shape, mode)),
        sends(updatesTensor, scatterWithUpdatesTensor), passes(indicesTensor), takes(shape), passes(axis, NSInteger),
        passes(mode, MPSGraphScatterMode), passes(name))

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

@implementation MPSGraph (MPSGraphScatterAlongAxisOps)

FORWARD(MPSGraphTensor*, passes(scatterAlongAxis, NSInteger), takes(withUpdatesTensor),
        sends(withDataTensor, start_of(self, withUpdatesTensor, shape, mode)), sends(updatesTensor, withUpdatesTensor),
        passes(indicesTensor), takes(shape), passes(mode, MPSGraphScatterMode), passes(name))

FORWARD(MPSGraphTensor*, takes(scatterAlongAxisTensor),
        sends(scatterAlongAxis, number_in(self, scatterAlongAxisTensor, "scatter_along_axis", "an axis")),
        passes(withUpdatesTensor), passes(indicesTensor), passes(shape), passes(mode, MPSGraphScatterMode),
        passes(name))

- (MPSGraphTensor*)scatterAlongAxis:(NSInteger)axis
                     withDataTensor:(MPSGraphTensor*)data
                      updatesTensor:(MPSGraphTensor*)updates
                      indicesTensor:(MPSGraphTensor*)indices
                               mode:(MPSGraphScatterMode)mode
                               name:(NSString*)name {
  return add(self, ir::Composite::scatter_along_axis,
             {value_of(self, data), value_of(self, updates), value_of(self, indices)},
             {{Attr::kAxis, int64_t{axis}}, {Attr::kMode, word_of(mode)}}, name);
}

FORWARD(MPSGraphTensor*, takes(scatterAlongAxisTensor),
        sends(scatterAlongAxis, number_in(self, scatterAlongAxisTensor, "scatter_along_axis", "an axis")),
        passes(withDataTensor), passes(updatesTensor), passes(indicesTensor), passes(mode, MPSGraphScatterMode),
        passes(name))

@end
