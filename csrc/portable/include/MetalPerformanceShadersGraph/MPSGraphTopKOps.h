// The greatest and the least elements along an axis.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Returns the `k` greatest elements along the axis, the last by default, in descending order, or the `k` least in
/// ascending order, and their Int32 positions. Among equal elements the earlier come first; NaN counts as the greatest.
/// The elements of an axis or k tensor must be known when the op is added. The methods with an axis need macOS 14.
@interface MPSGraph (MPSGraphTopKOps)

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                                k:(NSUInteger)k
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                          kTensor:(MPSGraphTensor*)kTensor
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                             axis:(NSInteger)axis
                                                k:(NSUInteger)k
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                       axisTensor:(MPSGraphTensor*)axisTensor
                                          kTensor:(MPSGraphTensor*)kTensor
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)bottomKWithSourceTensor:(MPSGraphTensor*)source
                                                axis:(NSInteger)axis
                                                   k:(NSUInteger)k
                                                name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)bottomKWithSourceTensor:(MPSGraphTensor*)source
                                          axisTensor:(MPSGraphTensor*)axisTensor
                                             kTensor:(MPSGraphTensor*)kTensor
                                                name:(NSString* _Nullable)name;

@end

/// Gradients of the values: zeros of the shape of `source`, with the incoming gradient at the positions of the values.
@interface MPSGraph (MPSGraphTopKGradientOps)

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                        k:(NSUInteger)k
                                     name:(NSString* _Nullable)name;

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                  kTensor:(MPSGraphTensor*)kTensor
                                     name:(NSString* _Nullable)name;

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                     axis:(NSInteger)axis
                                        k:(NSUInteger)k
                                     name:(NSString* _Nullable)name;

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                               axisTensor:(MPSGraphTensor*)axisTensor
                                  kTensor:(MPSGraphTensor*)kTensor
                                     name:(NSString* _Nullable)name;

- (MPSGraphTensor*)bottomKWithGradientTensor:(MPSGraphTensor*)gradient
                                      source:(MPSGraphTensor*)source
                                        axis:(NSInteger)axis
                                           k:(NSUInteger)k
                                        name:(NSString* _Nullable)name;

- (MPSGraphTensor*)bottomKWithGradientTensor:(MPSGraphTensor*)gradient
                                      source:(MPSGraphTensor*)source
                                  axisTensor:(MPSGraphTensor*)axisTensor
                                     kTensor:(MPSGraphTensor*)kTensor
                                        name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
