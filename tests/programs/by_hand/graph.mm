// A graph retained and released by hand.
#include "tensor_data.h"

int main() {
  run_steps(^{
    MPSGraph* graph = [[MPSGraph alloc] init];
    MPSGraphTensor* two = [graph constantWithScalar:2 dataType:MPSDataTypeFloat32];
    MPSGraphTensor* four = [[graph squareWithTensor:two name:nil] retain];
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:@[ four ] targetOperations:nil];
    CHECK_NEAR(float_of(results[four]), 4);
    CHECK([graph retainCount] >= 1);
    [four release];
    [graph release];
  });
}
