// Methods exchanged while the program runs: of a class whose subclasses have been used already, and of the framework's.
#include "tensor_data.h"

#import <objc/runtime.h>

@interface Layer : NSObject
- (int)units;
- (int)originalUnits;
+ (NSString*)kind;
@end
@interface Dense : Layer
@end
@implementation Layer
- (int)units {
  return 3;
}
- (int)originalUnits {
  return [self originalUnits] * 10;  // after the exchange
}
+ (NSString*)kind {
  return @"layer";
}
@end
@implementation Dense
- (int)units {
  return [super units] + 1;
}
@end
@interface Wide : Layer
@end
@implementation Wide
@end

static int squares;
@interface MPSGraph (Counting)
- (MPSGraphTensor*)counted_squareWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
@end
@implementation MPSGraph (Counting)
- (MPSGraphTensor*)counted_squareWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  ++squares;
  return [self counted_squareWithTensor:tensor name:name];
}
@end

static NSString* other_kind(id, SEL) { return @"other"; }

int main() {
  @autoreleasepool {
    CHECK([Layer new].units == 3 && [Dense new].units == 4 && [Wide new].units == 3 && [[Wide kind] isEqual:@"layer"]);
    method_exchangeImplementations(class_getInstanceMethod([Layer class], @selector(units)),
                                   class_getInstanceMethod([Layer class], @selector(originalUnits)));
    CHECK([Layer new].units == 30 && [Dense new].units == 31 && [Wide new].units == 30);
    method_setImplementation(class_getClassMethod([Layer class], @selector(kind)), (IMP)other_kind);
    CHECK([[Layer kind] isEqual:@"other"] && [[Wide kind] isEqual:@"other"]);

    MPSGraph* graph = [MPSGraph new];
    method_exchangeImplementations(
        class_getInstanceMethod([MPSGraph class], @selector(squareWithTensor:name:)),
        class_getInstanceMethod([MPSGraph class], @selector(counted_squareWithTensor:name:)));
    MPSGraphTensor* y = [graph squareWithTensor:[graph constantWithScalar:3 dataType:MPSDataTypeFloat32] name:nil];
    CHECK(squares == 1);
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y]), 9);
  }
}
