// Layers: an abstract class, its subclasses, super-calls, class methods that make what they are called on.
#include "tensor_data.h"

@interface Layer : NSObject
+ (instancetype)layer;
- (MPSGraphTensor*)build:(MPSGraph*)graph on:(MPSGraphTensor*)x;
@end
@interface Doubling : Layer
@end
@interface Shifting : Doubling
@end
@implementation Layer
+ (instancetype)layer {
  return [[self alloc] init];
}
- (MPSGraphTensor*)build:(MPSGraph*)graph on:(MPSGraphTensor*)x {
  (void)graph, (void)x;
  [self doesNotRecognizeSelector:_cmd];
  return nil;
}
@end
@implementation Doubling
- (MPSGraphTensor*)build:(MPSGraph*)graph on:(MPSGraphTensor*)x {
  return [graph additionWithPrimaryTensor:x secondaryTensor:x name:nil];
}
@end
@implementation Shifting
- (MPSGraphTensor*)build:(MPSGraph*)graph on:(MPSGraphTensor*)x {
  MPSGraphTensor* one = [graph constantWithScalar:1 dataType:x.dataType];
  return [graph additionWithPrimaryTensor:[super build:graph on:x] secondaryTensor:one name:nil];
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph constantWithScalar:1 dataType:MPSDataTypeFloat32];
    for (Layer* layer in @[ [Doubling layer], [Shifting layer], [Shifting layer] ]) x = [layer build:graph on:x];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ x ] targetOperations:nil][x]), 11);
    CHECK([[Shifting layer] isKindOfClass:[Doubling class]] && ![[Doubling layer] isMemberOfClass:[Layer class]]);
    BOOL refused = NO;
    @try {
      [[Layer layer] build:graph on:x];
    } @catch (NSException* e) {
      refused = [e.name isEqual:NSInvalidArgumentException];
    }
    CHECK(refused);
  });
}
