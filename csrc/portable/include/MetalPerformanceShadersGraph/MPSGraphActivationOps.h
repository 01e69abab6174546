// Activation functions and their gradients. The elementwise ones are rows of the op table ops.def, which this file
// turns into methods.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// Files cannot be included where pointers are nonnull by default, so the macros name it.

/// Activations; the gradients take the input of the forward op.
@interface MPSGraph (MPSGraphActivationOps)

#define ALLOY_ACTIVATION(op, stem, ...) \
  -(MPSGraphTensor* _Nonnull)stem##WithTensor : (MPSGraphTensor* _Nonnull)tensor name : (NSString* _Nullable)name;
#define ALLOY_ACTIVATION_GRADIENT(op, stem, ...)                                                          \
  -(MPSGraphTensor* _Nonnull)stem##WithIncomingGradient : (MPSGraphTensor* _Nonnull)gradient sourceTensor \
      : (MPSGraphTensor* _Nonnull)source name : (NSString* _Nullable)name;
#include <MetalPerformanceShadersGraph/ops.def>

NS_ASSUME_NONNULL_BEGIN

/// max(x, alpha * x). Where both are equal, the gradient is that of alpha * x.
- (MPSGraphTensor*)leakyReLUWithTensor:(MPSGraphTensor*)tensor alpha:(double)alpha name:(NSString* _Nullable)name;

/// The same with an alpha that broadcasts to the tensor.
- (MPSGraphTensor*)leakyReLUWithTensor:(MPSGraphTensor*)tensor
                           alphaTensor:(MPSGraphTensor*)alphaTensor
                                  name:(NSString* _Nullable)name;

/// Gradient of leakyReLU with respect to its input `source`.
- (MPSGraphTensor*)leakyReLUGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                            sourceTensor:(MPSGraphTensor*)source
                                             alphaTensor:(MPSGraphTensor*)alphaTensor
                                                    name:(NSString* _Nullable)name;

/// exp(x) normalised to sum 1 along `axis`, negative from the end.
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

/// Gradient of softMax with respect to its input `source`.
- (MPSGraphTensor*)softMaxGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  axis:(NSInteger)axis
                                                  name:(NSString* _Nullable)name;

NS_ASSUME_NONNULL_END

@end
