// The best of boxes that overlap: declared, so that programs compile.

#include "facade/errors.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

using namespace alloy::facade;

namespace {

[[noreturn]] void refuse() {
  raise_invalid(
      @"[nonMaximumSuppression] How many pairs of integers the result holds, in which order, and how they end "
      @"is documented nowhere, so that they are not computed here.");
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
