// Elements added at places that a tensor of indices tells.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

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

NS_ASSUME_NONNULL_END
