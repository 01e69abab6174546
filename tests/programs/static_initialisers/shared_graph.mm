// A graph, a constant of it and a string, all made before main.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "program.h"

static MPSGraph* const graph = [MPSGraph new];
static NSString* const name = [@"two" stringByAppendingString:@"_and_a_half"];
static MPSGraphTensor* const number = [graph constantWithScalar:2.5 dataType:MPSDataTypeFloat32];
static NSDictionary* const table = @{name : number};

int main() {
  run_steps(^{
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:@[ table[@"two_and_a_half"] ] targetOperations:nil];
    float value = 0;
    [[results[number] mpsndarray] readBytes:&value strideBytes:nil];
    CHECK_NEAR(value, 2.5);
  });
}
