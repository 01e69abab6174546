// Selectors, classes and protocols taken before main.
#include "tensor_data.h"

@protocol Squaring <NSObject>
- (MPSGraphTensor*)squareWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
@end

static const SEL square = @selector(squareWithTensor:name:);
static const Class graphClass = [MPSGraph class];
static Protocol* const protocol = @protocol(Squaring);
static const BOOL answers = [graphClass instancesRespondToSelector:square];
static const IMP method = [graphClass instanceMethodForSelector:square];
static NSMethodSignature* const signature = [graphClass instanceMethodSignatureForSelector:square];

int main() {
  @autoreleasepool {
    CHECK(answers && [NSStringFromSelector(square) isEqual:@"squareWithTensor:name:"]);
    CHECK([NSStringFromProtocol(protocol) isEqual:@"Squaring"] && signature.numberOfArguments == 4);
    MPSGraph* graph = [graphClass new];
    MPSGraphTensor* x = [graph constantWithScalar:5 dataType:MPSDataTypeFloat32];
    using Square = MPSGraphTensor* (*)(id, SEL, MPSGraphTensor*, NSString*);
    MPSGraphTensor* y = ((Square)method)(graph, square, x, nil);
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 25);
  }
}
