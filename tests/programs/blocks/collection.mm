// Layers as blocks in an array and a dictionary, composed into one.
#include "tensor_data.h"

typedef MPSGraphTensor* (^Layer)(MPSGraphTensor*);

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSMutableArray<Layer>* layers = [NSMutableArray array];
    for (int i = 1; i <= 3; ++i) {
      [layers addObject:^(MPSGraphTensor* x) {
        return [graph multiplicationWithPrimaryTensor:x
                                      secondaryTensor:[graph constantWithScalar:i dataType:MPSDataTypeFloat32]
                                                 name:nil];
      }];
    }
    NSDictionary<NSString*, Layer>* named = @{@"negative" : ^(MPSGraphTensor* x){
        return [graph negativeWithTensor:x name:nil];
      }
};
Layer all = ^(MPSGraphTensor* x) {
  for (Layer layer in layers) x = layer(x);
  return named[@"negative"](x);
};
MPSGraphTensor* y = all([graph constantWithScalar:0.5 dataType:MPSDataTypeFloat32]);
CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), -3);
});
}
