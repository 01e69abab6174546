// Asynchronous steps, at most two in flight, each with a handler that gets its result.
#include "tensor_data.h"

static const NSUInteger kInFlight = 2;

@interface Stepper : NSObject
@property(atomic, readonly) NSUInteger finished;
- (void)stepWith:(float)value;
- (void)drain;
@end

@interface Stepper ()
@property(atomic, readwrite) NSUInteger finished;
@property(nonatomic) float sum;
@end

@implementation Stepper {
  MPSGraph* _graph;
  MPSGraphTensor *_input, *_output;
  dispatch_semaphore_t _slots;
}

- (instancetype)init {
  if (self = [super init]) {
    _graph = [[MPSGraph alloc] init];
    _input = [_graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeFloat32 name:nil];
    _output = [_graph multiplicationWithPrimaryTensor:_input
                                      secondaryTensor:[_graph constantWithScalar:0.5 dataType:MPSDataTypeFloat32]
                                                 name:nil];
    _slots = dispatch_semaphore_create(kInFlight);
  }
  return self;
}

- (void)stepWith:(float)value {
  dispatch_semaphore_wait(_slots, DISPATCH_TIME_FOREVER);
  MPSGraphExecutionDescriptor* descriptor = [MPSGraphExecutionDescriptor new];
  __weak __typeof(self) weakSelf = self;
  descriptor.completionHandler = ^(MPSGraphTensorDataDictionary* results, NSError* error) {
    __strong __typeof(weakSelf) self = weakSelf;
    CHECK(self && !error && results.count == 1);
    @synchronized(self) {
      self.sum += float_of(results.allValues[0]);
      ++self.finished;
    }
    dispatch_semaphore_signal(self->_slots);
  };
  [_graph runAsyncWithFeeds:@{_input : data_of(&value, @[ @1 ])}
              targetTensors:@[ _output ]
           targetOperations:nil
        executionDescriptor:descriptor];
}

- (void)drain {
  for (NSUInteger i = 0; i < kInFlight; ++i) dispatch_semaphore_wait(_slots, DISPATCH_TIME_FOREVER);
  for (NSUInteger i = 0; i < kInFlight; ++i) dispatch_semaphore_signal(_slots);
}

@end

int main() {
  @autoreleasepool {
    Stepper* stepper = [Stepper new];
    for (int i = 1; i <= 100; ++i) {
      @autoreleasepool {
        [stepper stepWith:(float)i];
      }
    }
    [stepper drain];
    CHECK(stepper.finished == 100);
    CHECK_NEAR(stepper.sum, 2525);
  }
}
