// Non-maximum suppression: declared so that programs compile; the methods raise.

#include "facade/errors.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

using namespace alloy::facade;

namespace {

[[noreturn]] void refuse() {
  raise_invalid(@"[nonMaximumSuppression] The number and the order of the pairs of integers in the result are not "
                @"documented, so they are not computed here.");
}

}  // namespace

@implementation MPSGraph (MPSGraphNonMaximumSuppressionOps)

- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxesTensor
                                           scoresTensor:(MPSGraphTensor*)scoresTensor
                                           IOUThreshold:(float)IOUThreshold
                                         scoreThreshold:(float)scoreThreshold
                                    perClassSuppression:(BOOL)perClassSuppression
                                         coordinateMode:(MPSGraphNonMaximumSuppressionCoordinateMode)coordinateMode
                                                   name:(NSString*)name {
  refuse();
}

- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxesTensor
                                           scoresTensor:(MPSGraphTensor*)scoresTensor
                                     classIndicesTensor:(MPSGraphTensor*)classIndicesTensor
                                           IOUThreshold:(float)IOUThreshold
                                         scoreThreshold:(float)scoreThreshold
                                    perClassSuppression:(BOOL)perClassSuppression
                                         coordinateMode:(MPSGraphNonMaximumSuppressionCoordinateMode)coordinateMode
                                                   name:(NSString*)name {
  refuse();
}

@end
