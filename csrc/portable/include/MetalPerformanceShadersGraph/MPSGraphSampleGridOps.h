// Images sampled at places that a tensor gives.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphResizeOps.h>

NS_ASSUME_NONNULL_BEGIN

/// The source is (N, H, W, C) or (N, C, H, W), the coordinates are (N, H', W', 2) and hold x, then y, as floats; the
/// result has H' and W' in place of H and W. With normalizeCoordinates the image reaches from -1 to 1: with
/// alignCorners from the centers of its first elements to those of its last ones, else from edge to edge. Else
/// coordinates count elements from the center of the first one; this needs alignCorners, unless they are relative. With
/// relativeCoordinates they are added to the place of each result, which has the source's height and width then. Beyond
/// the image are the constant, zeros, the elements at its edge, or the image mirrored. Other settings are documented
/// nowhere; they raise.
@interface MPSGraph (MPSGraphSampleGrid)

/// The nearest elements, with halves up, or bilinear samples.
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

/// The nearest elements, by a rounding.
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
