// A network of two layers learns exclusive or: gradients, updates as operations, a loss that falls.
#include "tensor_data.h"

@interface XorNet : NSObject
@property(nonatomic, readonly) MPSGraph* graph;
@property(nonatomic, readonly) MPSGraphTensor *x, *y, *loss, *output;
@property(nonatomic, readonly) NSArray<MPSGraphOperation*>* updates;
@end

@implementation XorNet {
  NSMutableArray<MPSGraphTensor*>* _variables;
}

- (MPSGraphTensor*)variable:(const float*)values shape:(MPSShape*)shape {
  NSUInteger count = shape[0].unsignedIntegerValue * shape[1].unsignedIntegerValue;
  MPSGraphTensor* variable = [_graph variableWithData:[NSData dataWithBytes:values length:count * sizeof(float)]
                                                shape:shape
                                             dataType:MPSDataTypeFloat32
                                                 name:nil];
  [_variables addObject:variable];
  return variable;
}

- (MPSGraphTensor*)dense:(MPSGraphTensor*)x weights:(MPSGraphTensor*)w bias:(MPSGraphTensor*)b {
  MPSGraphTensor* product = [_graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:w name:nil];
  return [_graph additionWithPrimaryTensor:product secondaryTensor:b name:nil];
}

- (instancetype)init {
  if (!(self = [super init])) return nil;
  _graph = [MPSGraph new];
  _variables = [NSMutableArray new];
  _x = [_graph placeholderWithShape:@[ @4, @2 ] dataType:MPSDataTypeFloat32 name:@"x"];
  _y = [_graph placeholderWithShape:@[ @4, @1 ] dataType:MPSDataTypeFloat32 name:@"y"];
  const float w1[] = {1.1f, -0.8f, 0.9f, 0.7f, 1.2f, -1.0f, -0.9f, 0.6f}, b1[4] = {0, 0.1f, 0.2f, -0.1f};
  const float w2[] = {0.5f, -0.7f, 0.6f, 0.8f}, b2[1] = {0};
  MPSGraphTensor* hidden = [self dense:_x
                               weights:[self variable:w1 shape:@[ @2, @4 ]]
                                  bias:[self variable:b1 shape:@[ @1, @4 ]]];
  hidden = [_graph tanhWithTensor:hidden name:nil];
  _output = [_graph sigmoidWithTensor:[self dense:hidden
                                          weights:[self variable:w2 shape:@[ @4, @1 ]]
                                             bias:[self variable:b2 shape:@[ @1, @1 ]]]
                                 name:nil];
  MPSGraphTensor* error = [_graph subtractionWithPrimaryTensor:_output secondaryTensor:_y name:nil];
  _loss = [_graph reductionSumWithTensor:[_graph squareWithTensor:error name:nil] axes:@[ @0, @1 ] name:@"loss"];
  NSDictionary<MPSGraphTensor*, MPSGraphTensor*>* gradients = [_graph gradientForPrimaryTensor:_loss
                                                                                   withTensors:_variables
                                                                                          name:nil];
  MPSGraphTensor* rate = [_graph constantWithScalar:1 dataType:MPSDataTypeFloat32];
  NSMutableArray* updates = [NSMutableArray new];
  for (MPSGraphTensor* variable in _variables) {
    MPSGraphTensor* change = [_graph multiplicationWithPrimaryTensor:rate secondaryTensor:gradients[variable] name:nil];
    MPSGraphTensor* next = [_graph subtractionWithPrimaryTensor:variable secondaryTensor:change name:nil];
    [updates addObject:[_graph assignVariable:variable withValueOfTensor:next name:nil]];
  }
  _updates = updates;
  return self;
}

@end

int main() {
  @autoreleasepool {
    XorNet* net = [XorNet new];
    const float x[] = {0, 0, 0, 1, 1, 0, 1, 1}, y[] = {0, 1, 1, 0};
    NSDictionary* feeds = @{net.x : data_of(x, @[ @4, @2 ]), net.y : data_of(y, @[ @4, @1 ])};
    run_steps(^{
      for (int i = 0; i < 10; ++i) {
        [net.graph runWithFeeds:feeds targetTensors:@[ net.loss ] targetOperations:net.updates];
      }
    });
    const float* guesses = floats_of([net.graph runWithFeeds:feeds targetTensors:@[ net.output ]
                                            targetOperations:nil][net.output]);
    for (int i = 0; i < 4; ++i) CHECK((guesses[i] > 0.5f) == (y[i] > 0.5f));
  }
}
