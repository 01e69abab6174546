// Elements written to positions that a tensor of indices holds.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sets how an update combines with the element at its position. Without data the element begins as the mode's neutral
/// value: 0; 1 for Mul and Div; the greatest finite number for Min, the least for Max.
typedef NS_ENUM(NSInteger, MPSGraphScatterMode) {
  MPSGraphScatterModeAdd = 0,
  MPSGraphScatterModeSub = 1,
  MPSGraphScatterModeMul = 2,
  MPSGraphScatterModeDiv = 3,
  MPSGraphScatterModeMin = 4,
  MPSGraphScatterModeMax = 5,
  MPSGraphScatterModeSet = 6,
};

/// Writes elements by tuples of indices.
@interface MPSGraph (MPSGraphScatterNDOps)

/// Adds the updates to zeros of the shape, each at the tuple of indices along the last axis of `indicesTensor`. Shape,
/// indices and updates share the first `batchDimensions`. Tuples outside are skipped.
- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                                indicesTensor:(MPSGraphTensor*)indicesTensor
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         name:(NSString* _Nullable)name;

/// The same with any mode, beginning with the mode's neutral value.
- (MPSGraphTensor*)scatterNDWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                                indicesTensor:(MPSGraphTensor*)indicesTensor
                                        shape:(MPSShape*)shape
                              batchDimensions:(NSUInteger)batchDimensions
                                         mode:(MPSGraphScatterMode)mode
                                         name:(NSString* _Nullable)name;

/// The same beginning with the data. Elements that no update reaches stay unchanged.
- (MPSGraphTensor*)scatterNDWithDataTensor:(MPSGraphTensor*)dataTensor
                             updatesTensor:(MPSGraphTensor*)updatesTensor
                             indicesTensor:(MPSGraphTensor*)indicesTensor
                           batchDimensions:(NSUInteger)batchDimensions
                                      mode:(MPSGraphScatterMode)mode
                                      name:(NSString* _Nullable)name;

@end

/// Writes slices by indices.
@interface MPSGraph (MPSGraphScatterOps)

/// The same beginning with the mode's neutral value, in a tensor of the shape.
- (MPSGraphTensor*)scatterWithUpdatesTensor:(MPSGraphTensor*)updatesTensor
                              indicesTensor:(MPSGraphTensor*)indicesTensor
                                      shape:(MPSShape*)shape
                                       axis:(NSInteger)axis
                                       mode:(MPSGraphScatterMode)mode
                                       name:(NSString* _Nullable)name;

/// Combines each slice of the updates along the axis, one after the other, with the slice of the data at its index; the
/// indices are a vector. Indices outside are skipped. For the gradient of the mode Set, the indices must differ.
- (MPSGraphTensor*)scatterWithDataTensor:(MPSGraphTensor*)dataTensor
                           updatesTensor:(MPSGraphTensor*)updatesTensor
                           indicesTensor:(MPSGraphTensor*)indicesTensor
                                    axis:(NSInteger)axis
                                    mode:(MPSGraphScatterMode)mode
                                    name:(NSString* _Nullable)name;

@end

/// Writes elements by indices that replace their position along the axis. `updatesTensor` and `indicesTensor` have one
/// shape, which equals the shape of the data, or the given shape, except along the axis. Indices outside are skipped.
/// For the gradient of the mode Set, the indices must differ. The element of an axis tensor must be known when the op
/// is added.
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
