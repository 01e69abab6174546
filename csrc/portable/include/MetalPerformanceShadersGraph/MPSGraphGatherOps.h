// Elements taken from places that a tensor of indices tells.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Elements by indices.
@interface MPSGraph (MPSGraphGatherOps)

/// Of `updatesTensor`, the source, the elements along `axis` at the indices. The result's shape is the source's with
/// the dimension at the axis replaced by the indices' dimensions, behind the first `batchDimensions`, which both share
/// and which lie before the axis. An index outside gives 0.
- (MPSGraphTensor*)gatherWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                             indicesTensor:(MPSGraphTensor*)indicesTensor
                                      axis:(NSUInteger)axis
                           batchDimensions:(NSUInteger)batchDimensions
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
