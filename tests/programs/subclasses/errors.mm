// Subclasses of Foundation's own classes: exceptions, errors' owners, an operation with a result.
#include "tensor_data.h"

@interface ShapeException : NSException
@property(nonatomic, copy) MPSShape* shape;
@end
@implementation ShapeException
@end
@interface RankException : ShapeException
@end
@implementation RankException
@end

static MPSGraphTensor* row_sum(MPSGraph* graph, MPSGraphTensor* x) {
  if (x.shape.count != 2) {
    RankException* e = [[RankException alloc] initWithName:@"Rank" reason:@"two dimensions wanted" userInfo:nil];
    e.shape = x.shape;
    @throw e;
  }
  return [graph reductionSumWithTensor:x axis:1 name:nil];
}

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* y = row_sum(graph, [graph constantWithScalar:2 shape:@[ @1, @3 ] dataType:MPSDataTypeFloat32]);
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 6);
    MPSShape* shape = nil;
    @try {
      row_sum(graph, [graph constantWithScalar:2 shape:@[ @3 ] dataType:MPSDataTypeFloat32]);
    } @catch (ShapeException* e) {
      shape = e.shape;
    }
    CHECK([shape isEqual:@[ @3 ]]);
  });
}
