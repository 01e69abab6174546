// A graph compiled ahead of time and run again and again.
#include "tensor_data.h"

@interface Predictor : NSObject
@property(class, readonly) id<MTLDevice> device;
- (float)predict:(float)x;
@end

@implementation Predictor {
  id<MTLCommandQueue> _queue;
  MPSGraphExecutable* _executable;
}

+ (id<MTLDevice>)device {
  static id<MTLDevice> device;
  static dispatch_once_t once;
  dispatch_once(&once, ^{
    device = MTLCreateSystemDefaultDevice();
  });
  return device;
}

- (instancetype)init {
  self = [super init];
  if (!self) return nil;
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeFloat32 name:@"x"];
  MPSGraphTensor* y = [graph additionWithPrimaryTensor:[graph squareWithTensor:x name:nil] secondaryTensor:x name:nil];
  MPSGraphShapedType* type = [[MPSGraphShapedType alloc] initWithShape:@[ @1 ] dataType:MPSDataTypeFloat32];
  _executable = [graph compileWithDevice:[MPSGraphDevice deviceWithMTLDevice:Predictor.device]
                                   feeds:@{x : type}
                           targetTensors:@[ y ]
                        targetOperations:nil
                   compilationDescriptor:nil];
  _queue = [Predictor.device newCommandQueue];
  return self;
}

- (float)predict:(float)x {
  NSArray<MPSGraphTensorData*>* results = [_executable runWithMTLCommandQueue:_queue
                                                                  inputsArray:@[ data_of(&x, @[ @1 ]) ]
                                                                 resultsArray:nil
                                                          executionDescriptor:nil];
  return float_of(results.firstObject);
}

@end

int main() {
  @autoreleasepool {
    Predictor* predictor = [Predictor new];
    run_steps(^{
      CHECK_NEAR([predictor predict:3], 12);
      CHECK_NEAR([predictor predict:-0.5f], -0.25);
    });
  }
}
