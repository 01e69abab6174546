// The base of the types of graph values.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

@implementation MPSGraphType

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}

@end
