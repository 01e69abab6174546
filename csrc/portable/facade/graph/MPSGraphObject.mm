// The base of the framework's newer classes.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

@implementation MPSGraphObject

@end
