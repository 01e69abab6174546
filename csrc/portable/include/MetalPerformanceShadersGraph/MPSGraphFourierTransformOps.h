// Fourier transforms.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The factor of a transform of n elements in either direction: 1, 1 / n or 1 / sqrt(n).
typedef NS_ENUM(NSUInteger, MPSGraphFFTScalingMode) {
  MPSGraphFFTScalingModeNone = 0,
  MPSGraphFFTScalingModeSize = 1,
  MPSGraphFFTScalingModeUnitary = 2,
};

/// Options of a transform.
@interface MPSGraphFFTDescriptor : MPSGraphObject <NSCopying> {
 @package
  BOOL _inverse, _roundToOddHermitean;
  MPSGraphFFTScalingMode _scalingMode;
}

+ (instancetype _Nullable)descriptor;

/// Whether the exponent is positive; NO by default.
@property(nonatomic, readwrite) BOOL inverse;

/// None by default.
@property(nonatomic, readwrite) MPSGraphFFTScalingMode scalingMode;

/// Whether HermiteanToRealFFT makes 2 (m - 1) + 1 elements from m, instead of 2 (m - 1); NO by default.
@property(nonatomic, readwrite) BOOL roundToOddHermitean;

@end

/// Transforms along any axes; negative axes count from the end. An axes tensor is a vector of constant integers.
@interface MPSGraph (MPSGraphFourierTransformOps)

/// Transforms complex numbers; real numbers count as complex.
- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                             axes:(NSArray<NSNumber*>*)axes
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                       axesTensor:(MPSGraphTensor*)axesTensor
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

/// Transforms real numbers; the last of the axes keeps the first n / 2 + 1 elements.
- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                           axes:(NSArray<NSNumber*>*)axes
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                     axesTensor:(MPSGraphTensor*)axesTensor
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Inverts realToHermiteanFFT: takes the elements that it keeps and makes real numbers.
- (MPSGraphTensor*)HermiteanToRealFFTWithTensor:(MPSGraphTensor*)tensor
                                           axes:(NSArray<NSNumber*>*)axes
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

- (MPSGraphTensor*)HermiteanToRealFFTWithTensor:(MPSGraphTensor*)tensor
                                     axesTensor:(MPSGraphTensor*)axesTensor
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
