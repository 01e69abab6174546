// Update formulas for training.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>
#import <MetalPerformanceShadersGraph/MPSGraphMemoryOps.h>

NS_ASSUME_NONNULL_BEGIN

/// Update formulas; only the apply form assigns a variable.
@interface MPSGraph (MPSGraphOptimizerOps)

/// values - learningRate * gradient.
- (MPSGraphTensor*)stochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)learningRateTensor
                                                      valuesTensor:(MPSGraphTensor*)valuesTensor
                                                    gradientTensor:(MPSGraphTensor*)gradientTensor
                                                              name:(NSString* _Nullable)name;

/// Assigns the same value to a variable.
- (MPSGraphOperation*)applyStochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)learningRateTensor
                                                                  variable:(MPSGraphVariableOp*)variable
                                                            gradientTensor:(MPSGraphTensor*)gradientTensor
                                                                      name:(NSString* _Nullable)name;

/// Adam with bias correction, from the powers of the betas. Returns [values, momentum, velocity], and the maximum
/// velocity when it is given.
- (NSArray<MPSGraphTensor*>*)adamWithLearningRateTensor:(MPSGraphTensor*)learningRateTensor
                                            beta1Tensor:(MPSGraphTensor*)beta1Tensor
                                            beta2Tensor:(MPSGraphTensor*)beta2Tensor
                                          epsilonTensor:(MPSGraphTensor*)epsilonTensor
                                       beta1PowerTensor:(MPSGraphTensor*)beta1PowerTensor
                                       beta2PowerTensor:(MPSGraphTensor*)beta2PowerTensor
                                           valuesTensor:(MPSGraphTensor*)valuesTensor
                                         momentumTensor:(MPSGraphTensor*)momentumTensor
                                         velocityTensor:(MPSGraphTensor*)velocityTensor
                                  maximumVelocityTensor:(MPSGraphTensor* _Nullable)maximumVelocityTensor
                                         gradientTensor:(MPSGraphTensor*)gradientTensor
                                                   name:(NSString* _Nullable)name;

/// Adam with a learning rate that has the bias correction already.
- (NSArray<MPSGraphTensor*>*)adamWithCurrentLearningRateTensor:(MPSGraphTensor*)currentLearningRateTensor
                                                   beta1Tensor:(MPSGraphTensor*)beta1Tensor
                                                   beta2Tensor:(MPSGraphTensor*)beta2Tensor
                                                 epsilonTensor:(MPSGraphTensor*)epsilonTensor
                                                  valuesTensor:(MPSGraphTensor*)valuesTensor
                                                momentumTensor:(MPSGraphTensor*)momentumTensor
                                                velocityTensor:(MPSGraphTensor*)velocityTensor
                                         maximumVelocityTensor:(MPSGraphTensor* _Nullable)maximumVelocityTensor
                                                gradientTensor:(MPSGraphTensor*)gradientTensor
                                                          name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
