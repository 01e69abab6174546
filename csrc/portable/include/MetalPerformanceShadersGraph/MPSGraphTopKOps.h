// The greatest and the least elements along an axis.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The `k` greatest elements along the axis, by default the last, in descending order, or the `k` least in ascending
/// order, and their Int32 positions. Of equal elements the first come first; NaN counts as the greatest. The integers
/// of tensors must be known when the op is added. The forms with an axis are of macOS 14.
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

/// The gradients of those values: zeros of the shape of `source`, with the incoming gradient at the places taken.
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
