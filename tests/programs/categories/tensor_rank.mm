// A category on MPSGraphTensor: properties computed from its shape, arithmetic by its graph.
#include "tensor_data.h"

@interface MPSGraphTensor (Convenience)
@property(nonatomic, readonly) NSUInteger rank, elementCount;
@property(nonatomic, readonly, getter=isScalar) BOOL scalar;
- (MPSGraphTensor*)plus:(MPSGraphTensor*)other;
@end

@implementation MPSGraphTensor (Convenience)
- (NSUInteger)rank {
  return self.shape.count;
}
- (NSUInteger)elementCount {
  NSUInteger count = 1;
  for (NSNumber* dimension in self.shape) count *= dimension.unsignedIntegerValue;
  return count;
}
- (BOOL)isScalar {
  return self.elementCount == 1;
}
- (MPSGraphTensor*)plus:(MPSGraphTensor*)other {
  return [self.operation.graph additionWithPrimaryTensor:self secondaryTensor:other name:nil];
}
@end

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph constantWithScalar:2 shape:@[ @2, @3 ] dataType:MPSDataTypeFloat32];
    MPSGraphTensor* one = [graph constantWithScalar:1 shape:@[ @1 ] dataType:MPSDataTypeFloat32];
    MPSGraphTensor* y = [[x plus:one] plus:x];
    CHECK(x.rank == 2 && y.elementCount == 6 && one.scalar && !x.isScalar);
    CHECK_NEAR(floats_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y])[5], 5);
  }
}
