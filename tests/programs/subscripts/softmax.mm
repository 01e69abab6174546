// Class probabilities looked up by name.
#include "tensor_data.h"

#include <cmath>

int main() {
  run_steps(^{
    NSArray<NSString*>* labels = @[ @"cat", @"dog", @"fish" ];
    const float logits[] = {1, 2, 3, 0, 0, 0};
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph placeholderWithShape:@[ @2, @(labels.count) ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* p = [graph softMaxWithTensor:x axis:1 name:nil];
    const float* numbers = floats_of([graph runWithFeeds:@{x : data_of(logits, x.shape)}
                                           targetTensors:@[ p ]
                                        targetOperations:nil][p]);
    NSMutableArray<NSMutableDictionary<NSString*, NSNumber*>*>* rows = [NSMutableArray array];
    for (NSUInteger row = 0; row < 2; ++row) {
      rows[row] = [NSMutableDictionary dictionary];
      for (NSUInteger i = 0; i < labels.count; ++i) rows[row][labels[i]] = @(numbers[row * labels.count + i]);
    }
    CHECK_NEAR(rows[0][@"fish"].doubleValue, std::exp(3) / (std::exp(1) + std::exp(2) + std::exp(3)));
    CHECK_NEAR(rows[1][@"cat"].doubleValue, 1.0 / 3);
    NSString* best = [rows[0] keysSortedByValueUsingSelector:@selector(compare:)].lastObject;
    CHECK([best isEqualToString:labels[2]]);
  });
}
