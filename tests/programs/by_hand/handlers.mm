// Asynchronous runs whose handlers release what they were given.
#include "tensor_data.h"

int main() {
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [[graph placeholderWithShape:@[ @2 ] dataType:MPSDataTypeFloat32 name:nil] retain];
  MPSGraphTensor* y = [[graph reductionSumWithTensor:x axis:0 name:nil] retain];
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  run_steps(^{
    const float values[] = {1, 2.5f};
    MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor alloc] init];
    NSMutableArray* log = [[NSMutableArray alloc] init];
    descriptor.completionHandler = ^(MPSGraphTensorDataDictionary* results, NSError* error) {
      [log addObject:error ? @0 : @(float_of(results[y]))];
      dispatch_semaphore_signal(done);
    };
    [graph runAsyncWithFeeds:@{
      x : data_of(values, @[ @2 ])
    }
               targetTensors:@[ y ]
            targetOperations:nil
         executionDescriptor:descriptor];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    CHECK_NEAR([log[0] floatValue], 3.5);
    [descriptor release];
    [log release];
  });
  [y release];
  [x release];
  [graph release];
}
