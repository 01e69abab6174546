// Elements added at places that a tensor of indices tells.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// How an update is combined with what is at its place. Without data that is what the mode starts with: 0; of Mul and
/// Div 1; of Min the greatest finite number, of Max the least.
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

/// The same by any mode, from what it starts with.
- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                                indicesTensor:(MPSGraphTensor*)indicesTensor
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         mode:(MPSGraphScatterMode)mode
                                         name:(NSString* _Nullable)name;

/// The same from the data. What no update reaches stays as it is.
- (MPSGraphTensor*)scatterNDWithDataTensor:(MPSGraphTensor*)dataTensor
                             updatesTensor:(MPSGraphTensor*)updatesTensor
                             indicesTensor:(MPSGraphTensor*)indicesTensor
                           batchDimensions:(NSUInteger)batchDimensions
                                      mode:(MPSGraphScatterMode)mode
                                      name:(NSString* _Nullable)name;

@end

/// Slices by indices.
@interface MPSGraph (MPSGraphScatterOps)

/// The same as with data, from what the mode starts with, of the shape.
- (MPSGraphTensor*)scatterWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                              indicesTensor:(MPSGraphTensor*)indicesTensor
                                      shape:(MPSShape*)shape
                                       axis:(NSInteger)axis
                                       mode:(MPSGraphScatterMode)mode
                                       name:(NSString* _Nullable)name;

/// The data, with the slices of the updates along the axis combined into those at the indices, a vector, one after the
/// other. What is outside is skipped. In the gradient of the mode Set the indices must differ.
- (MPSGraphTensor*)scatterWithDataTensor:(MPSGraphTensor*)dataTensor
                           updatesTensor:(MPSGraphTensor*)updatesTensor
                           indicesTensor:(MPSGraphTensor*)indicesTensor
                                    axis:(NSInteger)axis
                                    mode:(MPSGraphScatterMode)mode
                                    name:(NSString* _Nullable)name;

@end

/// Elements by indices that replace their position along the axis: `updatesTensor` and `indicesTensor` have one shape,
/// that of the data, or the given one, but for the axis. What is outside is skipped. In the gradient of the mode Set
/// the indices must differ. The integer of an axis tensor must be known when the op is added.
@interface MPSGraph (MPSGraphScatterAlongAxisOps)

- (MPSGraphTensor*)scatterAlongAxis:(NSInteger)axis
                  withUpdatesTensor:(MPSGraphTensor*)updatesTensor
                      indicesTensor:(MPSGraphTensor*)indicesTensor
                              shape:(MPSShape*)shape
                               mode:(MPSGraphScatterMode)mode
                               name:(NSString* _Nullable)name;

- (MPSGraphTensor*)scatterAlongAxisTensor:(MPSGraphTensor*)axisTensor
                        withUpdatesTensor:(MPSGraphTensor*)updatesTensor
                            indicesTensor:(MPSGraphTensor*)indicesTensor
                                    shape:(MPSShape*)shape
                                     mode:(MPSGraphScatterMode)mode
                                     name:(NSString* _Nullable)name;

- (MPSGraphTensor*)scatterAlongAxis:(NSInteger)axis
                     withDataTensor:(MPSGraphTensor*)dataTensor
                      updatesTensor:(MPSGraphTensor*)updatesTensor
                      indicesTensor:(MPSGraphTensor*)indicesTensor
                               mode:(MPSGraphScatterMode)mode
                               name:(NSString* _Nullable)name;

- (MPSGraphTensor*)scatterAlongAxisTensor:(MPSGraphTensor*)axisTensor
                           withDataTensor:(MPSGraphTensor*)dataTensor
                            updatesTensor:(MPSGraphTensor*)updatesTensor
                            indicesTensor:(MPSGraphTensor*)indicesTensor
                                     mode:(MPSGraphScatterMode)mode
                                     name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
