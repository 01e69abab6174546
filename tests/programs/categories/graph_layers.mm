// A category on MPSGraph adds layers.
#include "tensor_data.h"

@interface MPSGraph (Layers)
- (MPSGraphTensor*)dense:(MPSGraphTensor*)x weights:(MPSGraphTensor*)w bias:(nullable MPSGraphTensor*)b;
- (MPSGraphTensor*)gelu:(MPSGraphTensor*)x;
@end

@implementation MPSGraph (Layers)
- (MPSGraphTensor*)dense:(MPSGraphTensor*)x weights:(MPSGraphTensor*)w bias:(MPSGraphTensor*)b {
  MPSGraphTensor* product = [self matrixMultiplicationWithPrimaryTensor:x secondaryTensor:w name:nil];
  return b ? [self additionWithPrimaryTensor:product secondaryTensor:b name:nil] : product;
}
- (MPSGraphTensor*)gelu:(MPSGraphTensor*)x {
  MPSGraphTensor* half = [self constantWithScalar:0.5 dataType:x.dataType];
  MPSGraphTensor* root = [self constantWithScalar:0.70710678 dataType:x.dataType];
  MPSGraphTensor* e = [self erfWithTensor:[self multiplicationWithPrimaryTensor:x secondaryTensor:root name:nil]
                                     name:nil];
  e = [self additionWithPrimaryTensor:e secondaryTensor:[self constantWithScalar:1 dataType:x.dataType] name:nil];
  return [self multiplicationWithPrimaryTensor:[self multiplicationWithPrimaryTensor:x secondaryTensor:half name:nil]
                               secondaryTensor:e
                                          name:nil];
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph constantWithScalar:1 shape:@[ @1, @2 ] dataType:MPSDataTypeFloat32];
    MPSGraphTensor* w = [graph constantWithScalar:0.25 shape:@[ @2, @1 ] dataType:MPSDataTypeFloat32];
    MPSGraphTensor* y = [graph gelu:[graph dense:x weights:w bias:[graph constantWithScalar:0.5 dataType:x.dataType]]];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 0.8413447);
  });
}
