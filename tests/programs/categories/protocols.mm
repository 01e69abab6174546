// A category makes a class adopt a protocol; optional methods are asked for.
#include "tensor_data.h"

@protocol Describing <NSObject>
- (NSString*)summary;
@optional
- (NSUInteger)cost;
+ (NSString*)plural;
@end
@protocol Costly <Describing>
@end

@interface MPSGraphTensor (Describing) <Describing>
@end
@implementation MPSGraphTensor (Describing)
- (NSString*)summary {
  return
      [NSString stringWithFormat:@"tensor%@", [[self.shape valueForKey:@"stringValue"] componentsJoinedByString:@"x"]];
}
@end
@interface MPSGraph (Describing) <Costly>
@end
@implementation MPSGraph (Describing)
- (NSString*)summary {
  return @"graph";
}
- (NSUInteger)cost {
  return self.placeholderTensors.count;
}
+ (NSString*)plural {
  return @"graphs";
}
@end

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph placeholderWithShape:@[ @2, @5 ] dataType:MPSDataTypeFloat32 name:nil];
    NSUInteger cost = 0;
    NSMutableArray* summaries = [NSMutableArray array];
    for (id<Describing> thing in @[ x, graph ]) {
      [summaries addObject:thing.summary];
      if ([thing respondsToSelector:@selector(cost)]) cost += [thing cost];
    }
    CHECK([summaries isEqual:(@[ @"tensor2x5", @"graph" ])] && cost == 1);
    CHECK([MPSGraph conformsToProtocol:@protocol(Costly)] && [graph conformsToProtocol:@protocol(Describing)]);
    CHECK([x conformsToProtocol:@protocol(Describing)] && ![x conformsToProtocol:@protocol(Costly)]);
    CHECK([MPSGraph respondsToSelector:@selector(plural)] && ![MPSGraphTensor respondsToSelector:@selector(plural)]);
    CHECK([NSStringFromProtocol(@protocol(Costly)) isEqual:@"Costly"]);
    CHECK(NSProtocolFromString(@"Describing") == @protocol(Describing));
  }
}
