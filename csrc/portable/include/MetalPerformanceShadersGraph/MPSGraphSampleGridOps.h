// Images sampled at coordinates that a tensor holds.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphResizeOps.h>

NS_ASSUME_NONNULL_BEGIN

/// The source is (N, H, W, C) or (N, C, H, W); the coordinates are floats (N, H', W', 2), x before y. In the result H'
/// and W' replace H and W.
///
/// With normalizeCoordinates, coordinates run from -1 to 1: between the centers of the first and the last elements with
/// alignCorners, else between the image's edges. Without it, they count elements from the center of the first one; this
/// needs alignCorners or relativeCoordinates. With relativeCoordinates they are offsets from the position of each
/// result, and H' and W' equal H and W.
///
/// Outside the image are the constant, zeros, the elements at its edge, or the image mirrored. Other settings raise:
/// Apple does not document them.
@interface MPSGraph (MPSGraphSampleGrid)

/// Takes the nearest elements, with halves rounded up, or bilinear samples.
- (MPSGraphTensor*)sampleGridWithSourceTensor:(MPSGraphTensor*)source
                             coordinateTensor:(MPSGraphTensor*)coordinates
                                       layout:(MPSGraphTensorNamedDataLayout)layout
                         normalizeCoordinates:(BOOL)normalizeCoordinates
                          relativeCoordinates:(BOOL)relativeCoordinates
                                 alignCorners:(BOOL)alignCorners
                                  paddingMode:(MPSGraphPaddingMode)paddingMode
                                 samplingMode:(MPSGraphResizeMode)samplingMode
                                constantValue:(double)constantValue
                                         name:(NSString* _Nullable)name;

/// Takes the nearest elements, by the given rounding.
- (MPSGraphTensor*)sampleGridWithSourceTensor:(MPSGraphTensor*)source
                             coordinateTensor:(MPSGraphTensor*)coordinates
                                       layout:(MPSGraphTensorNamedDataLayout)layout
                         normalizeCoordinates:(BOOL)normalizeCoordinates
                          relativeCoordinates:(BOOL)relativeCoordinates
                                 alignCorners:(BOOL)alignCorners
                                  paddingMode:(MPSGraphPaddingMode)paddingMode
                          nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                constantValue:(double)constantValue
                                         name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
