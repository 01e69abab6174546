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

/// Of `updatesTensor` what is at each tuple of indices along the last axis of `indicesTensor`, behind the first
/// `batchDimensions`, which both share. A tuple outside gives 0.
- (MPSGraphTensor*)gatherNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                               indicesTensor:(MPSGraphTensor*)indicesTensor
                             batchDimensions:(NSUInteger)batchDimensions
                                        name:(NSString* _Nullable)name;

@end

/// Elements by indices that replace their position along the axis. The result has the shape of the indices, which is
/// that of `updatesTensor`, the source, but for the axis. An index outside gives 0. The integer of an axis tensor must
/// be known when the op is added.
@interface MPSGraph (MPSGraphGatherAlongAxisOps)

- (MPSGraphTensor*)gatherAlongAxis:(NSInteger)axis
                 withUpdatesTensor:(MPSGraphTensor*)updatesTensor
                     indicesTensor:(MPSGraphTensor*)indicesTensor
                              name:(NSString* _Nullable)name;

- (MPSGraphTensor*)gatherAlongAxisTensor:(MPSGraphTensor*)axisTensor
                       withUpdatesTensor:(MPSGraphTensor*)updatesTensor
                           indicesTensor:(MPSGraphTensor*)indicesTensor
                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
