// Images of another size, and the gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Where elements of a resized image come from.
typedef NS_ENUM(NSUInteger, MPSGraphResizeMode) {
  MPSGraphResizeNearest = 0,
  MPSGraphResizeBilinear = 1,
};

/// Which element is the nearest of a place between two: the nearer one, with halves up or down or to an even or odd
/// one, or always the one above or below.
typedef NS_ENUM(NSUInteger, MPSGraphResizeNearestRoundingMode) {
  MPSGraphResizeNearestRoundingModeRoundPreferCeil = 0,
  MPSGraphResizeNearestRoundingModeRoundPreferFloor = 1,
  MPSGraphResizeNearestRoundingModeCeil = 2,
  MPSGraphResizeNearestRoundingModeFloor = 3,
  MPSGraphResizeNearestRoundingModeRoundToEven = 4,
  MPSGraphResizeNearestRoundingModeRoundToOdd = 5,
};

/// Place d of the result is place d * in / out of the source; with centerResult (d + 0.5) * in / out - 0.5; with
/// alignCorners d * (in - 1) / (out - 1), whatever centerResult is. Places outside are at the edge. Sizes, scales and
/// offsets are constants.
@interface MPSGraph (MPSGraphResizeOps)

/// Images of the layout with other heights and widths: `size` is those. Nearest rounds RoundPreferCeil.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                           size:(MPSShape*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// As above with the size in a constant tensor.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// The nearest elements, by a rounding.
- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                              centerResult:(BOOL)centerResult
                              alignCorners:(BOOL)alignCorners
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString* _Nullable)name;

/// Between the nearest four elements.
- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

/// A place of the source becomes place * scale + offset; the constant holds the scales of height and width, then the
/// offsets.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
              scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                           mode:(MPSGraphResizeMode)mode
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// As above, the nearest elements.
- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                         scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString* _Nullable)name;

/// As above, between the nearest four elements.
- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                          scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

/// The gradients of these: `input` is the source.
- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                                       mode:(MPSGraphResizeMode)mode
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                      centerResult:(BOOL)centerResult
                                      alignCorners:(BOOL)alignCorners
                                            layout:(MPSGraphTensorNamedDataLayout)layout
                                              name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                       centerResult:(BOOL)centerResult
                                       alignCorners:(BOOL)alignCorners
                                             layout:(MPSGraphTensorNamedDataLayout)layout
                                               name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                          scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                       mode:(MPSGraphResizeMode)mode
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                                 scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                            layout:(MPSGraphTensorNamedDataLayout)layout
                                              name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                  scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                             layout:(MPSGraphTensorNamedDataLayout)layout
                                               name:(NSString* _Nullable)name;

/// From macOS 14 on: size, scale and offset have a number for each axis of a tensor of any rank.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                           name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                              centerResult:(BOOL)centerResult
                              alignCorners:(BOOL)alignCorners
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                       name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                    scaleTensor:(MPSGraphTensor*)scale
                   offsetTensor:(MPSGraphTensor*)offset
                           mode:(MPSGraphResizeMode)mode
                           name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                               scaleTensor:(MPSGraphTensor*)scale
                              offsetTensor:(MPSGraphTensor*)offset
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                                scaleTensor:(MPSGraphTensor*)scale
                               offsetTensor:(MPSGraphTensor*)offset
                                       name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeWithGradientTensor:(MPSGraphTensor*)gradient
                                      input:(MPSGraphTensor*)input
                                scaleTensor:(MPSGraphTensor*)scale
                               offsetTensor:(MPSGraphTensor*)offset
                                       mode:(MPSGraphResizeMode)mode
                                       name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeNearestWithGradientTensor:(MPSGraphTensor*)gradient
                                             input:(MPSGraphTensor*)input
                                       scaleTensor:(MPSGraphTensor*)scale
                                      offsetTensor:(MPSGraphTensor*)offset
                               nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                              name:(NSString* _Nullable)name;

- (MPSGraphTensor*)resizeBilinearWithGradientTensor:(MPSGraphTensor*)gradient
                                              input:(MPSGraphTensor*)input
                                        scaleTensor:(MPSGraphTensor*)scale
                                       offsetTensor:(MPSGraphTensor*)offset
                                               name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
