// Blocks that outlive the function that made them, on queues, in order, with dispatch_data and events.
#include "tensor_data.h"

@interface Pipeline : NSObject
- (void)then:(float (^)(float))stage;
- (void)run:(float)x completion:(void (^)(float))completion;
@end
@implementation Pipeline {
  NSMutableArray<float (^)(float)>* _stages;
  dispatch_queue_t _queue;
}
- (instancetype)init {
  if ((self = [super init])) {
    _stages = [NSMutableArray new];
    _queue = dispatch_queue_create("pipeline", DISPATCH_QUEUE_SERIAL);
  }
  return self;
}
- (void)then:(float (^)(float))stage {
  [_stages addObject:[stage copy]];
}
- (void)run:(float)x completion:(void (^)(float))completion {
  dispatch_async(_queue, ^{
    float y = x;
    for (float (^stage)(float) in self->_stages) y = stage(y);
    completion(y);
  });
}
@end

int main() {
  @autoreleasepool {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block float sum = 0;
    Pipeline* pipeline = [Pipeline new];
    __weak Pipeline* weak = pipeline;
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* y = [graph absoluteWithTensor:x name:nil];
    [pipeline then:^(float value) {
      return float_of([graph runWithFeeds:@{
        x : data_of(&value, @[ @1 ])
      }
                            targetTensors:@[ y ]
                         targetOperations:nil][y]);
    }];
    for (float offset = 1; offset < 3; ++offset) {
      [pipeline then:^(float value) {
        return value + offset;
      }];
    }
    for (int i = -3; i <= 3; ++i) {
      [pipeline run:(float)i
          completion:^(float result) {
            sum += result;
            dispatch_semaphore_signal(done);
          }];
    }
    for (int i = -3; i <= 3; ++i) dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    CHECK(sum == 12 + 7 * 3 && weak);
  }
}
