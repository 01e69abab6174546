// What every type of a graph has.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

@implementation MPSGraphType

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}

@end
