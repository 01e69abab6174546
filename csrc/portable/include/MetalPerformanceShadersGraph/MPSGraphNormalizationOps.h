// Mean, variance, normalisation and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Normalisation; reduced dimensions stay with length 1.
@interface MPSGraph (MPSGraphNormalizationOps)

/// Mean over `axes`; a mean of integers is truncated toward zero.
- (MPSGraphTensor*)meanOfTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString* _Nullable)name;

/// Mean over `axes` of the squared distance from the given mean.
- (MPSGraphTensor*)varianceOfTensor:(MPSGraphTensor*)tensor
                         meanTensor:(MPSGraphTensor*)meanTensor
                               axes:(NSArray<NSNumber*>*)axes
                               name:(NSString* _Nullable)name;

/// Mean over `axes` of the squared distance from the mean over `axes`; for integers it is computed exactly and
/// truncated.
- (MPSGraphTensor*)varianceOfTensor:(MPSGraphTensor*)tensor
                               axes:(NSArray<NSNumber*>*)axes
                               name:(NSString* _Nullable)name;

/// gamma * (x - mean) / sqrt(variance + epsilon) + beta.
- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)tensor
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor* _Nullable)gamma
                                betaTensor:(MPSGraphTensor* _Nullable)beta
                                   epsilon:(float)epsilon
                                      name:(NSString* _Nullable)name;

/// Gradient with respect to gamma.
- (MPSGraphTensor*)normalizationGammaGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                                           sourceTensor:(MPSGraphTensor*)sourceTensor
                                                             meanTensor:(MPSGraphTensor*)meanTensor
                                                         varianceTensor:(MPSGraphTensor*)varianceTensor
                                                          reductionAxes:(NSArray<NSNumber*>*)axes
                                                                epsilon:(float)epsilon
                                                                   name:(NSString* _Nullable)name;

/// Gradient with respect to beta.
- (MPSGraphTensor*)normalizationBetaGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                                          sourceTensor:(MPSGraphTensor*)sourceTensor
                                                         reductionAxes:(NSArray<NSNumber*>*)axes
                                                                  name:(NSString* _Nullable)name;

/// Gradient with respect to the source, if mean and variance were computed from the source over `axes`.
- (MPSGraphTensor*)normalizationGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                                      sourceTensor:(MPSGraphTensor*)sourceTensor
                                                        meanTensor:(MPSGraphTensor*)meanTensor
                                                    varianceTensor:(MPSGraphTensor*)varianceTensor
                                                       gammaTensor:(MPSGraphTensor* _Nullable)gamma
                                               gammaGradientTensor:(MPSGraphTensor* _Nullable)gammaGradient
                                                betaGradientTensor:(MPSGraphTensor* _Nullable)betaGradient
                                                     reductionAxes:(NSArray<NSNumber*>*)axes
                                                           epsilon:(float)epsilon
                                                              name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
