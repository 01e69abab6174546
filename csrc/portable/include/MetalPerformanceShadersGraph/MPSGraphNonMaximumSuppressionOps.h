// The best of boxes that overlap.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The four numbers of a box: two corners, or a center and two lengths; height or width first.
typedef NS_ENUM(NSUInteger, MPSGraphNonMaximumSuppressionCoordinateMode) {
  MPSGraphNonMaximumSuppressionCoordinateModeCornersHeightFirst = 0,
  MPSGraphNonMaximumSuppressionCoordinateModeCornersWidthFirst = 1,
  MPSGraphNonMaximumSuppressionCoordinateModeCentersHeightFirst = 2,
  MPSGraphNonMaximumSuppressionCoordinateModeCentersWidthFirst = 3,
};

/// Boxes are (N, B, 4) and scores (N, B, K), of Float32. The result holds pairs of Int32; how many, in which order, and
/// how they end is documented nowhere. So these raise.
@interface MPSGraph (MPSGraphNonMaximumSuppressionOps)

- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxesTensor
                                           scoresTensor:(MPSGraphTensor*)scoresTensor
                                           IOUThreshold:(float)IOUThreshold
                                         scoreThreshold:(float)scoreThreshold
                                    perClassSuppression:(BOOL)perClassSuppression
                                         coordinateMode:(MPSGraphNonMaximumSuppressionCoordinateMode)coordinateMode
                                                   name:(NSString* _Nullable)name;

/// Scores are (N, B, 1); a tensor (N, B) of Int32 says the boxes' classes.
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
