// Feeds filled and results read by subscript, tensors as keys.
#include "tensor_data.h"

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    NSMutableDictionary<NSString*, MPSGraphTensor*>* inputs = [NSMutableDictionary new];
    for (NSString* name in @[ @"a", @"b", @"c" ]) {
      inputs[name] = [graph placeholderWithShape:@[ @2 ] dataType:MPSDataTypeFloat32 name:name];
    }
    MPSGraphTensor* product = [graph multiplicationWithPrimaryTensor:inputs[@"a"]
                                                     secondaryTensor:inputs[@"b"]
                                                                name:nil];
    MPSGraphTensor* sum = [graph additionWithPrimaryTensor:product secondaryTensor:inputs[@"c"] name:nil];
    run_steps(^{
      NSMutableDictionary<MPSGraphTensor*, MPSGraphTensorData*>* feeds = [NSMutableDictionary new];
      const float a[] = {2, 3}, b[] = {10, 100}, c[] = {1, -1};
      feeds[inputs[@"a"]] = data_of(a, @[ @2 ]);
      feeds[inputs[@"b"]] = data_of(b, @[ @2 ]);
      feeds[inputs[@"c"]] = data_of(c, @[ @2 ]);
      NSArray<MPSGraphTensor*>* targets = @[ sum, product ];
      MPSGraphTensorDataDictionary* results = [graph runWithFeeds:feeds targetTensors:targets targetOperations:nil];
      CHECK_NEAR(floats_of(results[targets[0]])[1], 299);
      CHECK_NEAR(floats_of(results[targets[1]])[0], 20);
      CHECK(results[inputs[@"a"]] == nil && inputs[@"d"] == nil);
    });
  }
}
