// A subclass of MPSGraph with layers and state of its own.
#include "tensor_data.h"

@interface Network : MPSGraph
@property(nonatomic, readonly) NSUInteger layers;
- (MPSGraphTensor*)layer:(MPSGraphTensor*)x;
@end
@implementation Network {
  NSMutableArray<MPSGraphTensor*>* _weights;
}
- (instancetype)init {
  if ((self = [super init])) _weights = [NSMutableArray new];
  return self;
}
- (NSUInteger)layers {
  return _weights.count;
}
- (MPSGraphTensor*)layer:(MPSGraphTensor*)x {
  [_weights addObject:[self constantWithScalar:2 dataType:MPSDataTypeFloat32]];
  return [self multiplicationWithPrimaryTensor:x secondaryTensor:_weights.lastObject name:nil];
}
- (MPSGraphTensor*)reLUWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return [self negativeWithTensor:[super reLUWithTensor:tensor name:name] name:nil];
}
@end

int main() {
  run_steps(^{
    Network* network = [Network new];
    MPSGraphTensor* x = [network constantWithScalar:3 dataType:MPSDataTypeFloat32];
    MPSGraphTensor* y = [network reLUWithTensor:[network layer:[network layer:x]] name:nil];
    CHECK(network.layers == 2);
    CHECK_NEAR(float_of([network runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), -12);
  });
}
