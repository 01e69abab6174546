// Indices as vectors with a one at the index.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

@implementation MPSGraph (MPSGraphOneHotOps)

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                  dataType:(MPSDataType)dataType
                                   onValue:(double)onValue
                                  offValue:(double)offValue
                                      name:(NSString*)name {
  // Public programs give indices as floats.
  if (kind(value_of(self, indices).dtype()) == ir::DTypeKind::kFloating) {
    indices = [self castTensor:indices toType:MPSDataTypeInt32 name:nil];
  }
  return add(self, ir::Composite::one_hot,
             {value_of(self, indices), value_of([self constantWithScalar:onValue dataType:dataType]),
              value_of([self constantWithScalar:offValue dataType:dataType])},
             {{Attr::kAxis, static_cast<int64_t>(axis)},
              {Attr::kDepth, static_cast<int64_t>(depth)},
              {Attr::kDtype, dtype_of(dataType)}},
             name);
}

FORWARD(MPSGraphTensor*, passes(oneHotWithIndicesTensor), passes(depth, NSUInteger), sends(axis, -1),
        passes(dataType, MPSDataType), passes(onValue, double), passes(offValue, double), passes(name))

FORWARD(MPSGraphTensor*, passes(oneHotWithIndicesTensor), passes(depth, NSUInteger), passes(axis, NSUInteger),
        passes(dataType, MPSDataType), sends(onValue, 1), sends(offValue, 0), passes(name))

FORWARD(MPSGraphTensor*, passes(oneHotWithIndicesTensor), passes(depth, NSUInteger), passes(axis, NSUInteger),
        sends(dataType, MPSDataTypeFloat32), passes(name))

FORWARD(MPSGraphTensor*, passes(oneHotWithIndicesTensor), passes(depth, NSUInteger), sends(axis, -1),
        passes(dataType, MPSDataType), passes(name))

FORWARD(MPSGraphTensor*, passes(oneHotWithIndicesTensor), passes(depth, NSUInteger),
        sends(dataType, MPSDataTypeFloat32), passes(name))

@end
