// Images resized, and the gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sets how elements of the source make an element of a resized image.
typedef NS_ENUM(NSUInteger, MPSGraphResizeMode) {
  MPSGraphResizeNearest = 0,
  MPSGraphResizeBilinear = 1,
};

/// Sets which element is the nearest to a position between two: the nearer one, with halves rounded up, down, to even
/// or to odd; or always the upper or the lower one.
typedef NS_ENUM(NSUInteger, MPSGraphResizeNearestRoundingMode) {
  MPSGraphResizeNearestRoundingModeRoundPreferCeil = 0,
  MPSGraphResizeNearestRoundingModeRoundPreferFloor = 1,
  MPSGraphResizeNearestRoundingModeCeil = 2,
  MPSGraphResizeNearestRoundingModeFloor = 3,
  MPSGraphResizeNearestRoundingModeRoundToEven = 4,
  MPSGraphResizeNearestRoundingModeRoundToOdd = 5,
};

/// Position d of the result samples position d * in / out of the source; with centerResult, (d + 0.5) * in / out - 0.5;
/// with alignCorners, d * (in - 1) / (out - 1), and centerResult is ignored. Positions outside the source count as its
/// edge. Sizes, scales and offsets are constants.
@interface MPSGraph (MPSGraphResizeOps)

/// Resizes images of the layout; `size` holds the new height and width. Nearest rounds as RoundPreferCeil.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                           size:(MPSShape*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// The same with the size in a constant tensor.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
                           mode:(MPSGraphResizeMode)mode
                   centerResult:(BOOL)centerResult
                   alignCorners:(BOOL)alignCorners
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// Takes the nearest element, by the given rounding.
- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                              centerResult:(BOOL)centerResult
                              alignCorners:(BOOL)alignCorners
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString* _Nullable)name;

/// Interpolates between the nearest four elements.
- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                               centerResult:(BOOL)centerResult
                               alignCorners:(BOOL)alignCorners
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

/// Samples position (d - offset) / scale of the source for position d of the result. The constant holds the scales of
/// height and width, then their offsets.
- (MPSGraphTensor*)resizeTensor:(MPSGraphTensor*)imagesTensor
                     sizeTensor:(MPSGraphTensor*)size
              scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                           mode:(MPSGraphResizeMode)mode
                         layout:(MPSGraphTensorNamedDataLayout)layout
                           name:(NSString* _Nullable)name;

/// The same with the nearest element.
- (MPSGraphTensor*)resizeNearestWithTensor:(MPSGraphTensor*)imagesTensor
                                sizeTensor:(MPSGraphTensor*)size
                         scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                       nearestRoundingMode:(MPSGraphResizeNearestRoundingMode)nearestRoundingMode
                                    layout:(MPSGraphTensorNamedDataLayout)layout
                                      name:(NSString* _Nullable)name;

/// The same with interpolation between the nearest four elements.
- (MPSGraphTensor*)resizeBilinearWithTensor:(MPSGraphTensor*)imagesTensor
                                 sizeTensor:(MPSGraphTensor*)size
                          scaleOffsetTensor:(MPSGraphTensor*)scaleOffset
                                     layout:(MPSGraphTensorNamedDataLayout)layout
                                       name:(NSString* _Nullable)name;

/// Gradients of the methods above; `input` is the source.
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

/// Since macOS 14: size, scale and offset have one number for each axis of a tensor of any rank.
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
