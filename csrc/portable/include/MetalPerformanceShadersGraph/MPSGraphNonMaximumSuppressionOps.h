// Selection of the best among overlapping boxes.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The meaning of a box's four numbers: two corners, or a center and two lengths; height or width comes first.
typedef NS_ENUM(NSUInteger, MPSGraphNonMaximumSuppressionCoordinateMode) {
  MPSGraphNonMaximumSuppressionCoordinateModeCornersHeightFirst = 0,
  MPSGraphNonMaximumSuppressionCoordinateModeCornersWidthFirst = 1,
  MPSGraphNonMaximumSuppressionCoordinateModeCentersHeightFirst = 2,
  MPSGraphNonMaximumSuppressionCoordinateModeCentersWidthFirst = 3,
};

/// These raise. Boxes are (N, B, 4) and scores (N, B, K), both Float32. The result holds pairs of Int32, but Apple
/// documents neither their number nor their order.
@interface MPSGraph (MPSGraphNonMaximumSuppressionOps)

- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxesTensor
                                           scoresTensor:(MPSGraphTensor*)scoresTensor
                                           IOUThreshold:(float)IOUThreshold
                                         scoreThreshold:(float)scoreThreshold
                                    perClassSuppression:(BOOL)perClassSuppression
                                         coordinateMode:(MPSGraphNonMaximumSuppressionCoordinateMode)coordinateMode
                                                   name:(NSString* _Nullable)name;

/// Takes scores (N, B, 1); an Int32 tensor (N, B) holds the boxes' classes.
- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxesTensor
                                           scoresTensor:(MPSGraphTensor*)scoresTensor
                                     classIndicesTensor:(MPSGraphTensor*)classIndicesTensor
                                           IOUThreshold:(float)IOUThreshold
                                         scoreThreshold:(float)scoreThreshold
                                    perClassSuppression:(BOOL)perClassSuppression
                                         coordinateMode:(MPSGraphNonMaximumSuppressionCoordinateMode)coordinateMode
                                                   name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
