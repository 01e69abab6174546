// Blocks kept in globals before main.
#include "tensor_data.h"

typedef MPSGraphTensor* (^Activation)(MPSGraph*, MPSGraphTensor*);

static const float scale = [@"0.5" floatValue];
static Activation const relu = ^(MPSGraph* graph, MPSGraphTensor* x) {
  return [graph reLUWithTensor:x name:nil];
};
static NSDictionary<NSString*, Activation>* const activations =
    @{@"relu" : relu,
      @"scaled" : ^(MPSGraph* graph, MPSGraphTensor* x){
          return [graph multiplicationWithPrimaryTensor:x
                                        secondaryTensor:[graph constantWithScalar:scale dataType:MPSDataTypeFloat32]
                                                   name:nil];
}
,
}
;

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph constantWithScalar:-4 dataType:MPSDataTypeFloat32];
    MPSGraphTensor *a = activations[@"relu"](graph, x), *b = activations[@"scaled"](graph, x);
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:@[ a, b ] targetOperations:nil];
    CHECK_NEAR(float_of(results[a]), 0);
    CHECK_NEAR(float_of(results[b]), -2);
  }
}
