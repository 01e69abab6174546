// Literals in literals, read back by chains of subscripts.
#include "tensor_data.h"

int main(void) {
  @autoreleasepool {
    NSDictionary* config = @{
      @"layers" : @[
        @{@"units" : @3,
          @"activation" : @"relu"},
        @{@"units" : @(1 + 1),
          @"bias" : @NO}
      ],
      @"rate" : @1e-3f,
      @"letter" : @'x',
      @"flags" : @[ @YES, @NO, @(2 > 1) ],
      @(17) : @17ULL,
    };
    CHECK([config[@"layers"][0][@"units"] intValue] == 3);
    CHECK([config[@"layers"][1][@"bias"] boolValue] == NO);
    CHECK([config[@"layers"][0][@"activation"] isEqualToString:@"relu"]);
    CHECK_NEAR([config[@"rate"] floatValue], 0.001);
    CHECK([config[@"letter"] charValue] == 'x');
    CHECK([config[@"flags"][2] boolValue] && ![config[@"flags"][1] boolValue]);
    CHECK([config[@17] unsignedLongLongValue] == 17 && config[@"none"][0] == nil);

    MPSGraph* graph = [MPSGraph new];
    MPSShape* shape = @[ config[@"layers"][0][@"units"], @([config[@"layers"][1][@"units"] integerValue] * 2) ];
    MPSGraphTensor* filled = [graph constantWithScalar:0.25 shape:shape dataType:MPSDataTypeFloat32];
    CHECK([filled.shape[1] intValue] == 4);
    MPSGraphTensor* sum = [graph reductionSumWithTensor:filled axes:@[ @0, @(-1) ] name:nil];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]), 3);
  }
  return 0;
}
