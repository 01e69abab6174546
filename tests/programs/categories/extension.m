// A class extension with instance variables and private properties, categories that use them, in plain Objective-C.
#include "tensor_data.h"

@interface Schedule : NSObject
@property(nonatomic, readonly) NSUInteger step;
- (float)next;
@end

@interface Schedule () {
  float _decay;
}
@property(nonatomic, readwrite) NSUInteger step;
@property(nonatomic, strong) NSMutableArray<NSNumber*>* history;
@end

@interface Schedule (History)
@property(nonatomic, readonly) NSNumber* last;
+ (instancetype)scheduleWithDecay:(float)decay;
@end

@implementation Schedule
- (instancetype)init {
  if ((self = [super init])) {
    _decay = 1;
    _history = [NSMutableArray new];
  }
  return self;
}
- (float)next {
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* power = [graph powerWithPrimaryTensor:[graph constantWithScalar:_decay dataType:MPSDataTypeFloat32]
                                        secondaryTensor:[graph constantWithScalar:(double)self.step
                                                                         dataType:MPSDataTypeFloat32]
                                                   name:nil];
  float rate = float_of([graph runWithFeeds:@{} targetTensors:@[ power ] targetOperations:nil][power]);
  self.step += 1;
  [self.history addObject:@(rate)];
  return rate;
}
@end

@implementation Schedule (History)
+ (instancetype)scheduleWithDecay:(float)decay {
  Schedule* schedule = [self new];
  schedule->_decay = decay;
  return schedule;
}
- (NSNumber*)last {
  return self.history.lastObject;
}
@end

int main(void) {
  run_steps(^{
    Schedule* schedule = [Schedule scheduleWithDecay:0.5f];
    for (int i = 0; i < 3; ++i) [schedule next];
    CHECK(schedule.step == 3);
    CHECK_NEAR(schedule.last.floatValue, 0.25);
  });
  return 0;
}
