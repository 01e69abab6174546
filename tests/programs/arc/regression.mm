// Fits a line by gradient descent; a class owns the graph and what is made of it.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "program.h"

@interface Line : NSObject
@property(nonatomic, strong, readonly) MPSGraph* graph;
@property(nonatomic, strong, readonly) MPSGraphTensor *x, *y, *slope, *offset;
@property(nonatomic, copy) NSArray<MPSGraphOperation*>* updates;
@end

@implementation Line

- (instancetype)init {
  if ((self = [super init])) {
    _graph = [MPSGraph new];
    _x = [_graph placeholderWithShape:@[ @4 ] dataType:MPSDataTypeFloat32 name:@"x"];
    _y = [_graph placeholderWithShape:@[ @4 ] dataType:MPSDataTypeFloat32 name:@"y"];
    float zero = 0;
    NSData* start = [NSData dataWithBytes:&zero length:sizeof zero];
    _slope = [_graph variableWithData:start shape:@[ @1 ] dataType:MPSDataTypeFloat32 name:@"slope"];
    _offset = [_graph variableWithData:start shape:@[ @1 ] dataType:MPSDataTypeFloat32 name:@"offset"];
    MPSGraphTensor* guess = [_graph additionWithPrimaryTensor:[_graph multiplicationWithPrimaryTensor:_x
                                                                                      secondaryTensor:_slope
                                                                                                 name:nil]
                                              secondaryTensor:_offset
                                                         name:nil];
    MPSGraphTensor* error =
        [_graph squareWithTensor:[_graph subtractionWithPrimaryTensor:guess secondaryTensor:_y name:nil] name:nil];
    MPSGraphTensor* loss = [_graph meanOfTensor:error axes:@[ @0 ] name:@"loss"];
    NSDictionary* gradients = [_graph gradientForPrimaryTensor:loss withTensors:@[ _slope, _offset ] name:nil];
    MPSGraphTensor* rate = [_graph constantWithScalar:0.1 dataType:MPSDataTypeFloat32];
    NSMutableArray* updates = [NSMutableArray array];
    for (MPSGraphTensor* variable in @[ _slope, _offset ]) {
      MPSGraphTensor* next = [_graph stochasticGradientDescentWithLearningRateTensor:rate
                                                                        valuesTensor:variable
                                                                      gradientTensor:gradients[variable]
                                                                                name:nil];
      [updates addObject:[_graph assignVariable:variable withValueOfTensor:next name:nil]];
    }
    self.updates = updates;
  }
  return self;
}

@end

int main() {
  @autoreleasepool {
    Line* line = [Line new];
    MPSGraphDevice* device = [MPSGraphDevice deviceWithMTLDevice:MTLCreateSystemDefaultDevice()];
    const float x[] = {-1, 0, 1, 2}, y[] = {-3.5, -0.5, 2.5, 5.5};
    NSData *xs = [NSData dataWithBytes:x length:sizeof x], *ys = [NSData dataWithBytes:y length:sizeof y];
    run_steps(^{
      for (int i = 0; i < 4; ++i) {
        NSDictionary* feeds = @{
          line.x : [[MPSGraphTensorData alloc] initWithDevice:device data:xs shape:@[ @4 ] dataType:MPSDataTypeFloat32],
          line.y : [[MPSGraphTensorData alloc] initWithDevice:device data:ys shape:@[ @4 ] dataType:MPSDataTypeFloat32]
        };
        [line.graph runWithFeeds:feeds targetTensors:@[ line.slope ] targetOperations:line.updates];
      }
    });
    NSDictionary<MPSGraphTensor*, MPSGraphTensorData*>* fitted = [line.graph runWithFeeds:@{}
                                                                            targetTensors:@[ line.slope, line.offset ]
                                                                         targetOperations:nil];
    float slope = 0, offset = 0;
    [fitted[line.slope].mpsndarray readBytes:&slope strideBytes:nil];
    [fitted[line.offset].mpsndarray readBytes:&offset strideBytes:nil];
    CHECK_NEAR(slope, 3);
    CHECK_NEAR(offset, -0.5);
  }
}
