// Indices as rows of zeros with a one.

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

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices
                                     depth:(NSUInteger)depth
                                  dataType:(MPSDataType)dataType
                                   onValue:(double)onValue
                                  offValue:(double)offValue
                                      name:(NSString*)name {
  return [self oneHotWithIndicesTensor:indices
                                 depth:depth
                                  axis:static_cast<NSUInteger>(-1)
                              dataType:dataType
                               onValue:onValue
                              offValue:offValue
                                  name:name];
}

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                  dataType:(MPSDataType)dataType
                                      name:(NSString*)name {
  return [self oneHotWithIndicesTensor:indices depth:depth axis:axis dataType:dataType onValue:1 offValue:0 name:name];
}

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                      name:(NSString*)name {
  return [self oneHotWithIndicesTensor:indices depth:depth axis:axis dataType:MPSDataTypeFloat32 name:name];
}

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices
                                     depth:(NSUInteger)depth
                                  dataType:(MPSDataType)dataType
                                      name:(NSString*)name {
  return [self oneHotWithIndicesTensor:indices
                                 depth:depth
                                  axis:static_cast<NSUInteger>(-1)
                              dataType:dataType
                                  name:name];
}

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indices depth:(NSUInteger)depth name:(NSString*)name {
  return [self oneHotWithIndicesTensor:indices depth:depth dataType:MPSDataTypeFloat32 name:name];
}

@end
