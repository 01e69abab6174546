// Updates of training.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>
#import <MetalPerformanceShadersGraph/MPSGraphMemoryOps.h>

NS_ASSUME_NONNULL_BEGIN

/// Formulas of updates; all but the apply form assign nothing.
@interface MPSGraph (MPSGraphOptimizerOps)

/// values - learningRate * gradient.
- (MPSGraphTensor*)stochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)learningRateTensor
                                                      valuesTensor:(MPSGraphTensor*)valuesTensor
                                                    gradientTensor:(MPSGraphTensor*)gradientTensor
                                                              name:(NSString* _Nullable)name;

/// Assigns the same to a variable.
- (MPSGraphOperation*)applyStochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)learningRateTensor
                                                                  variable:(MPSGraphVariableOp*)variable
                                                            gradientTensor:(MPSGraphTensor*)gradientTensor
                                                                      name:(NSString* _Nullable)name;

/// Adam with its bias correction from the powers of the betas: [values, momentum, velocity] and, when
/// given, maximum velocity.
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

/// Adam with a learning rate that is already corrected.
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
