// Control flow of a graph, whose parts are blocks: a condition, a loop that counts, one that tests.
#include "tensor_data.h"

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    auto number = [graph](double x) { return [graph constantWithScalar:x dataType:MPSDataTypeFloat32]; };
    MPSGraphTensor* x = number(3);
    NSArray<MPSGraphTensor*>* chosen = [graph ifWithPredicateTensor:[graph greaterThanWithPrimaryTensor:x
                                                                                        secondaryTensor:number(2)
                                                                                                   name:nil]
        thenBlock:^{
          return @[ [graph squareWithTensor:x name:nil] ];
        }
        elseBlock:^{
          return @[ [graph negativeWithTensor:x name:nil] ];
        }
        name:nil];
    NSArray<MPSGraphTensor*>* looped =
        [graph forLoopWithNumberOfIterations:[graph constantWithScalar:4 dataType:MPSDataTypeInt32]
                        initialBodyArguments:@[ number(1) ]
                                        body:^(MPSGraphTensor*, NSArray<MPSGraphTensor*>* arguments) {
                                          return @[ [graph additionWithPrimaryTensor:arguments[0]
                                                                     secondaryTensor:arguments[0]
                                                                                name:nil] ];
                                        }
                                        name:nil];
    NSArray* targets = @[ chosen[0], looped[0] ];
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:targets targetOperations:nil];
    CHECK_NEAR(float_of(results[chosen[0]]), 9);
    CHECK_NEAR(float_of(results[looped[0]]), 16);
  });
}
