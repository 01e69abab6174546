// Elements added at places that a tensor of indices tells.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// How an update is combined with what is at its place.
typedef NS_ENUM(NSInteger, MPSGraphScatterMode) {
  MPSGraphScatterModeAdd = 0,
  MPSGraphScatterModeSub = 1,
  MPSGraphScatterModeMul = 2,
  MPSGraphScatterModeDiv = 3,
  MPSGraphScatterModeMin = 4,
  MPSGraphScatterModeMax = 5,
  MPSGraphScatterModeSet = 6,
};

/// Elements by tuples of indices.
@interface MPSGraph (MPSGraphScatterNDOps)

/// Zeros of the shape, to which the updates are added: each at the tuple of indices along the last axis of
/// `indicesTensor`. The first `batchDimensions` of shape, indices and updates are the same. What is outside is skipped.
- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                                indicesTensor:(MPSGraphTensor*)indicesTensor
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         name:(NSString* _Nullable)name;

@end

/// Slices by indices.
@interface MPSGraph (MPSGraphScatterOps)

/// The data, with the slices of the updates along the axis combined into those at the indices, a vector, one after the
/// other. What is outside is skipped. In the gradient of the mode Set the indices must differ.
- (MPSGraphTensor*)scatterWithDataTensor:(MPSGraphTensor*)dataTensor
                           updatesTensor:(MPSGraphTensor*)updatesTensor
                           indicesTensor:(MPSGraphTensor*)indicesTensor
                                    axis:(NSInteger)axis
                                    mode:(MPSGraphScatterMode)mode
                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
