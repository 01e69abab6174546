// Losses and their gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sets how the samples' losses become the result.
typedef NS_ENUM(uint64_t, MPSGraphLossReductionType) {
  MPSGraphLossReductionTypeAxis = 0,
  MPSGraphLossReductionTypeSum = 1,
  MPSGraphLossReductionTypeMean = 2,
  MPSGraphLossReductionTypeNone = 0,
};

/// Losses and their gradients.
@interface MPSGraph (MPSGraphLossOps)

/// Cross entropy of softMax(source) along `axis` and labels of the same shape.
- (MPSGraphTensor*)softMaxCrossEntropyWithSourceTensor:(MPSGraphTensor*)sourceTensor
                                          labelsTensor:(MPSGraphTensor*)labelsTensor
                                                  axis:(NSInteger)axis
                                         reductionType:(MPSGraphLossReductionType)reductionType
                                                  name:(NSString* _Nullable)name;

/// Gradient of the cross entropy with respect to the source.
- (MPSGraphTensor*)softMaxCrossEntropyGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradientTensor
                                                            sourceTensor:(MPSGraphTensor*)sourceTensor
                                                            labelsTensor:(MPSGraphTensor*)labelsTensor
                                                                    axis:(NSInteger)axis
                                                           reductionType:(MPSGraphLossReductionType)reductionType
                                                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
