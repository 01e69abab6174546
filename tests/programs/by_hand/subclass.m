// A subclass of the framework's graph in plain Objective-C.
#include "tensor_data.h"

@interface Net : MPSGraph {
  NSMutableArray* _made;
}
- (MPSGraphTensor*)number:(double)value;
@end
@implementation Net
- (id)init {
  if ((self = [super init])) _made = [[NSMutableArray alloc] init];
  return self;
}
- (void)dealloc {
  [_made release];
  [super dealloc];
}
- (MPSGraphTensor*)number:(double)value {
  [_made addObject:[self constantWithScalar:value dataType:MPSDataTypeFloat32]];
  return [_made lastObject];
}
@end

int main(void) {
  run_steps(^{
    Net* net = [[Net alloc] init];
    MPSGraphTensor* y = [net subtractionWithPrimaryTensor:[net number:5] secondaryTensor:[net number:2] name:nil];
    CHECK_NEAR(float_of([net runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 3);
    [net release];
  });
  return 0;
}
