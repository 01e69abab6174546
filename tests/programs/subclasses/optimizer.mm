// Optimizers: a protocol, a base class that adopts it, two subclasses with state in variables of the graph.
#include "tensor_data.h"

@protocol Optimizer <NSObject>
- (MPSGraphOperation*)update:(MPSGraphTensor*)variable gradient:(MPSGraphTensor*)gradient in:(MPSGraph*)graph;
@end
@interface Sgd : NSObject <Optimizer>
@property(nonatomic) double rate;
- (MPSGraphTensor*)change:(MPSGraphTensor*)gradient in:(MPSGraph*)graph;
@end
@implementation Sgd
- (MPSGraphTensor*)change:(MPSGraphTensor*)gradient in:(MPSGraph*)graph {
  MPSGraphTensor* rate = [graph constantWithScalar:self.rate dataType:MPSDataTypeFloat32];
  return [graph multiplicationWithPrimaryTensor:rate secondaryTensor:gradient name:nil];
}
- (MPSGraphOperation*)update:(MPSGraphTensor*)variable gradient:(MPSGraphTensor*)gradient in:(MPSGraph*)graph {
  MPSGraphTensor* change = [self change:gradient in:graph];
  return [graph assignVariable:variable
             withValueOfTensor:[graph subtractionWithPrimaryTensor:variable secondaryTensor:change name:nil]
                          name:nil];
}
@end
@interface SignSgd : Sgd
@end
@implementation SignSgd
- (MPSGraphTensor*)change:(MPSGraphTensor*)gradient in:(MPSGraph*)graph {
  return [super change:[graph signWithTensor:gradient name:nil] in:graph];
}
@end

static float trained(Sgd<Optimizer>* optimizer, int steps) {
  optimizer.rate = 0.25;
  MPSGraph* graph = [MPSGraph new];
  float start = 4;
  MPSGraphTensor* w = [graph variableWithData:[NSData dataWithBytes:&start length:4]
                                        shape:@[ @1 ]
                                     dataType:MPSDataTypeFloat32
                                         name:nil];
  MPSGraphTensor* loss = [graph squareWithTensor:w name:nil];
  MPSGraphTensor* gradient = [graph gradientForPrimaryTensor:loss withTensors:@[ w ] name:nil][w];
  NSArray* updates = @[ [optimizer update:w gradient:gradient in:graph] ];
  for (int i = 0; i < steps; ++i) [graph runWithFeeds:@{} targetTensors:@[ loss ] targetOperations:updates];
  return float_of([graph runWithFeeds:@{} targetTensors:@[ w ] targetOperations:nil][w]);
}

int main() {
  @autoreleasepool {
    CHECK_NEAR(trained([Sgd new], 3), 0.5);  // halves it
    CHECK_NEAR(trained([SignSgd new], 3), 3.25);
  }
}
