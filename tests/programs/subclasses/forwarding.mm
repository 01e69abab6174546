// Messages that are passed on: by forwardingTargetForSelector:, by invocations, by a proxy.
#include "tensor_data.h"

@interface Logger : NSProxy
@property(nonatomic, strong) NSMutableArray* log;
+ (id)around:(id)target;
@end
@implementation Logger {
  id _target;
}
+ (id)around:(id)target {
  Logger* logger = [self alloc];
  logger->_target = target;
  logger->_log = [NSMutableArray array];
  return logger;
}
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  return [_target methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  [self.log addObject:NSStringFromSelector(invocation.selector)];
  [invocation invokeWithTarget:_target];
}
@end
@interface Math : NSObject
- (double)half:(double)x plus:(int)n;
- (NSRange)range:(NSRange)range by:(NSUInteger)n;
@end
@implementation Math
- (double)half:(double)x plus:(int)n {
  return x / 2 + n;
}
- (NSRange)range:(NSRange)range by:(NSUInteger)n {
  return NSMakeRange(range.location + n, range.length * n);
}
@end

int main() {
  run_steps(^{
    id math = [Logger around:[Math new]];
    CHECK_NEAR([math half:3 plus:4], 5.5);
    NSRange range = [math range:NSMakeRange(1, 2) by:3];
    CHECK(range.location == 4 && range.length == 6);
    CHECK([[(Logger*)math log] isEqual:(@[ @"half:plus:", @"range:by:" ])]);
    id graph = [Logger around:[MPSGraph new]];
    MPSGraphTensor* one = [graph constantWithScalar:1.5 dataType:MPSDataTypeFloat32];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ one ] targetOperations:nil][one]), 1.5);
  });
}
