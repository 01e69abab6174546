// Elements at positions that a tensor of indices holds.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Takes elements by indices.
@interface MPSGraph (MPSGraphGatherOps)

/// Takes the elements of `updatesTensor`, the source, at the indices along `axis`. The result has the source's shape,
/// with the indices' dimensions in place of the dimension at the axis. Source and indices share the first
/// `batchDimensions`, which lie before the axis. An index outside the source gives 0.
- (MPSGraphTensor*)gatherWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                             indicesTensor:(MPSGraphTensor*)indicesTensor
                                      axis:(NSUInteger)axis
                           batchDimensions:(NSUInteger)batchDimensions
                                      name:(NSString* _Nullable)name;

/// Takes the slice of `updatesTensor` at each tuple of indices along the last axis of `indicesTensor`. Both tensors
/// share the first `batchDimensions`. A tuple outside gives 0.
- (MPSGraphTensor*)gatherNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                               indicesTensor:(MPSGraphTensor*)indicesTensor
                             batchDimensions:(NSUInteger)batchDimensions
                                        name:(NSString* _Nullable)name;

@end

/// Takes elements by indices that replace their position along the axis. The result has the shape of the indices, which
/// equals the shape of `updatesTensor`, the source, except along the axis. An index outside the source gives 0. The
/// element of an axis tensor must be known when the op is added.
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
