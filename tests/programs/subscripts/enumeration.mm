// Fast enumeration, enumerators and blocks over what subscripts filled.
#include "tensor_data.h"

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSMutableArray<MPSGraphTensor*>* constants = [NSMutableArray array];
    for (int i = 0; i < 5; ++i) constants[constants.count] = [graph constantWithScalar:i dataType:MPSDataTypeFloat32];
    MPSGraphTensor* sum = constants[0];
    for (MPSGraphTensor* constant in constants) {
      if (constant == constants[0]) continue;
      sum = [graph additionWithPrimaryTensor:sum secondaryTensor:constant name:nil];
    }
    NSMutableDictionary<NSNumber*, MPSGraphTensor*>* byNumber = [NSMutableDictionary dictionary];
    [constants enumerateObjectsUsingBlock:^(MPSGraphTensor* tensor, NSUInteger i, BOOL* stop) {
      byNumber[@(i)] = [graph squareWithTensor:tensor name:nil];
      *stop = i == 3;
    }];
    CHECK(byNumber.count == 4);
    NSMutableArray<MPSGraphTensor*>* targets = [NSMutableArray arrayWithObject:sum];
    NSEnumerator<NSNumber*>* keys = [[byNumber.allKeys sortedArrayUsingSelector:@selector(compare:)] objectEnumerator];
    for (NSNumber* key; (key = [keys nextObject]);) [targets addObject:byNumber[key]];
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:targets targetOperations:nil];
    CHECK_NEAR(float_of(results[targets[0]]), 10);
    CHECK_NEAR(float_of(results[targets[4]]), 9);
    int visited = 0;
    for (id key in results) {
      CHECK(results[key]);
      ++visited;
    }
    for (MPSGraphTensor* tensor in [targets reverseObjectEnumerator]) visited += tensor == sum;
    __block NSUInteger pairs = 0;
    [results enumerateKeysAndObjectsUsingBlock:^(MPSGraphTensor* key, MPSGraphTensorData* value, BOOL*) {
      pairs += [key.shape isEqual:value.shape] || key.shape.count == 0;
    }];
    CHECK(visited == 6 && pairs == 5);
  });
}
