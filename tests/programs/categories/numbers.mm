// Categories on NSArray and NSNumber: class clusters get the methods, too.
#include "tensor_data.h"

@interface NSArray <ObjectType>(Functional)
- (NSArray*)map:(id (^)(ObjectType object))block;
- (NSArray<ObjectType>*)filter:(BOOL (^)(ObjectType object))block;
@property(readonly) double total;
@end
@implementation NSArray (Functional)
- (NSArray*)map:(id (^)(id object))block {
  NSMutableArray* mapped = [NSMutableArray arrayWithCapacity:self.count];
  for (id object in self) [mapped addObject:block(object)];
  return mapped;
}
- (NSArray*)filter:(BOOL (^)(id object))block {
  NSMutableArray* kept = [NSMutableArray array];
  for (id object in self)
    if (block(object)) [kept addObject:object];
  return [kept copy];
}
- (double)total {
  return [[self valueForKeyPath:@"@sum.doubleValue"] doubleValue];
}
@end

@interface NSNumber (Tensor)
- (MPSGraphTensor*)tensorIn:(MPSGraph*)graph;
@end
@implementation NSNumber (Tensor)
- (MPSGraphTensor*)tensorIn:(MPSGraph*)graph {
  return [graph constantWithScalar:self.doubleValue dataType:MPSDataTypeFloat32];
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSArray<MPSGraphTensor*>* tensors = [[@[ @1, @2.5, @(-3), @YES ] filter:^(NSNumber* n) {
      return (BOOL)(n.doubleValue > 0);
    }] map:^(NSNumber* n) {
      return [n tensorIn:graph];
    }];
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:tensors targetOperations:nil];
    NSArray* values = [tensors map:^(MPSGraphTensor* t) {
      return @(float_of(results[t]));
    }];
    CHECK(tensors.count == 3);
    CHECK_NEAR(values.total, 4.5);
    CHECK_NEAR([NSMutableArray arrayWithArray:values].total, 4.5);
  });
}
