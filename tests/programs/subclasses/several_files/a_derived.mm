#include "layers.h"

@implementation Power {
  MPSGraph* _graph;
  char _tag;
}
+ (void)load {
  [Layer add:self];
}
- (double)apply:(double)x {
  if (!_graph) _graph = [MPSGraph new];
  _tag = 't';
  MPSGraphTensor* power = [_graph powerWithPrimaryTensor:[_graph constantWithScalar:x dataType:MPSDataTypeFloat32]
                                         secondaryTensor:[_graph constantWithScalar:self.exponent
                                                                           dataType:MPSDataTypeFloat32]
                                                    name:nil];
  double result = float_of([_graph runWithFeeds:@{} targetTensors:@[ power ] targetOperations:nil][power]);
  CHECK(_tag == 't');
  return [super apply:result];
}
@end
