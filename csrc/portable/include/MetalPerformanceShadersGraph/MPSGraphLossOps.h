// Losses and their gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// What becomes of the losses of the samples.
typedef NS_ENUM(uint64_t, MPSGraphLossReductionType) {
  MPSGraphLossReductionTypeAxis = 0,
  MPSGraphLossReductionTypeSum = 1,
  MPSGraphLossReductionTypeMean = 2,
  MPSGraphLossReductionTypeNone = 0,
};

/// Losses.
@interface MPSGraph (MPSGraphLossOps)

/// Cross entropy of softMax(source) along `axis` against labels of the same shape.
- (MPSGraphTensor*)softMaxCrossEntropyWithSourceTensor:(MPSGraphTensor*)sourceTensor
                                          labelsTensor:(MPSGraphTensor*)labelsTensor
                                                  axis:(NSInteger)axis
                                         reductionType:(MPSGraphLossReductionType)reductionType
                                                  name:(NSString* _Nullable)name;

/// Its gradient with respect to the source.
- (MPSGraphTensor*)softMaxCrossEntropyGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradientTensor
                                                            sourceTensor:(MPSGraphTensor*)sourceTensor
                                                            labelsTensor:(MPSGraphTensor*)labelsTensor
                                                                    axis:(NSInteger)axis
                                                           reductionType:(MPSGraphLossReductionType)reductionType
                                                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
