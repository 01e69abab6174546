// A block that calls itself through a weak reference, in plain Objective-C.
#include "tensor_data.h"

int main(void) {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    __block __weak MPSGraphTensor* (^weakPower)(MPSGraphTensor*, int);
    MPSGraphTensor* (^power)(MPSGraphTensor*, int);
    weakPower = power = ^(MPSGraphTensor* x, int n) {
      MPSGraphTensor* (^again)(MPSGraphTensor*, int) = weakPower;
      return n == 1 ? x : [graph multiplicationWithPrimaryTensor:x secondaryTensor:again(x, n - 1) name:nil];
    };
    MPSGraphTensor* y = power([graph constantWithScalar:3 dataType:MPSDataTypeFloat32], 4);
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 81);
  });
  return 0;
}
