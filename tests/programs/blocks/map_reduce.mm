// map, filter and reduce over tensors.
#include "tensor_data.h"

@interface NSArray <T>(Reduce)
- (NSArray*)map:(id (^)(T))transform;
- (id)reduce:(id)initial with:(id (^)(id sum, T next))combine;
@end
@implementation NSArray (Reduce)
- (NSArray*)map:(id (^)(id))transform {
  NSMutableArray* result = [NSMutableArray array];
  [self enumerateObjectsUsingBlock:^(id object, NSUInteger, BOOL*) {
    [result addObject:transform(object)];
  }];
  return result;
}
- (id)reduce:(id)initial with:(id (^)(id, id))combine {
  id sum = initial;
  for (id next in self) sum = combine(sum, next);
  return sum;
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSArray<MPSGraphTensor*>* squares = [@[ @1, @2, @3 ] map:^(NSNumber* n) {
      return [graph squareWithTensor:[graph constantWithScalar:n.doubleValue dataType:MPSDataTypeFloat32] name:nil];
    }];
    MPSGraphTensor* sum = [squares reduce:[graph constantWithScalar:0 dataType:MPSDataTypeFloat32]
                                     with:^(MPSGraphTensor* a, MPSGraphTensor* b) {
                                       return [graph additionWithPrimaryTensor:a secondaryTensor:b name:nil];
                                     }];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]), 14);
  });
}
