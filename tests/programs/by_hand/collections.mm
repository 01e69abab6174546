// What collections own.
#include "tensor_data.h"

int main() {
  run_steps(^{
    MPSGraph* graph = [[MPSGraph alloc] init];
    NSMutableDictionary* tensors = [[NSMutableDictionary alloc] init];
    for (int i = 0; i < 4; ++i) {
      NSString* name = [[NSString alloc] initWithFormat:@"t%d", i];
      tensors[name] = [graph constantWithScalar:i dataType:MPSDataTypeFloat32];
      [name release];
    }
    NSArray* names = [[tensors allKeys] sortedArrayUsingSelector:@selector(compare:)];
    MPSGraphTensor* sum = [[tensors[names[0]] retain] autorelease];
    [tensors removeObjectForKey:names[0]];
    for (NSUInteger i = 1; i < 4; ++i) {
      sum = [graph additionWithPrimaryTensor:sum secondaryTensor:tensors[names[i]] name:nil];
    }
    CHECK([tensors count] == 3);
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]), 6);
    [tensors release];
    [graph release];
  });
}
