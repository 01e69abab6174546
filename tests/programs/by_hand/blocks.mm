// Blocks copied and released by hand; __block variables do not retain.
#include "tensor_data.h"

typedef float (^Function)(float);

static Function copy_of_scaled(MPSGraph* graph, float scale) {
  return [^(float x) {
    MPSGraphTensor* a = [graph constantWithScalar:x dataType:MPSDataTypeFloat32];
    MPSGraphTensor* b = [graph constantWithScalar:scale dataType:MPSDataTypeFloat32];
    MPSGraphTensor* y = [graph multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
    return float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]);
  } copy];
}

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSUInteger owners = [graph retainCount];
    Function function = copy_of_scaled(graph, 3);
    CHECK([graph retainCount] == owners + 1);
    CHECK_NEAR(function(2), 6);
    Function same = Block_copy(function);
    Block_release(same);
    [function release];
    __block MPSGraph* unowned = graph;
    void (^user)(void) = [^{
      (void)unowned.placeholderTensors;
    } copy];
    CHECK([graph retainCount] == owners);
    user();
    [user release];
    [graph release];
  });
}
