// Completion handlers with a result or an error, on a queue.
#include "tensor_data.h"

typedef void (^Completion)(NSNumber* _Nullable value, NSError* _Nullable error);

static void root_of(float x, Completion completion) {
  dispatch_async(dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0), ^{
    @autoreleasepool {
      if (x < 0) return completion(nil, [NSError errorWithDomain:@"Root" code:1 userInfo:nil]);
      MPSGraph* graph = [MPSGraph new];
      MPSGraphTensor* root = [graph squareRootWithTensor:[graph constantWithScalar:x dataType:MPSDataTypeFloat32]
                                                    name:nil];
      completion(@(float_of([graph runWithFeeds:@{} targetTensors:@[ root ] targetOperations:nil][root])), nil);
    }
  });
}

int main() {
  @autoreleasepool {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block NSNumber* result = nil;
    __block NSError* failure = nil;
    root_of(9, ^(NSNumber* value, NSError* error) {
      result = error ? nil : value;
      dispatch_semaphore_signal(done);
    });
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    root_of(-1, ^(NSNumber*, NSError* error) {
      failure = error;
      dispatch_semaphore_signal(done);
    });
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    CHECK(result.intValue == 3 && failure.code == 1);
  }
}
