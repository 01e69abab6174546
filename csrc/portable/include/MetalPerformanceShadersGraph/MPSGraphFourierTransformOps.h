// Fourier transforms.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// What a transform is multiplied by, whatever its direction: 1, 1 / n or 1 / sqrt(n), n elements being transformed.
typedef NS_ENUM(NSUInteger, MPSGraphFFTScalingMode) {
  MPSGraphFFTScalingModeNone = 0,
  MPSGraphFFTScalingModeSize = 1,
  MPSGraphFFTScalingModeUnitary = 2,
};

/// Which transform.
@interface MPSGraphFFTDescriptor : MPSGraphObject <NSCopying> {
 @package
  BOOL _inverse, _roundToOddHermitean;
  MPSGraphFFTScalingMode _scalingMode;
}

+ (instancetype _Nullable)descriptor;

/// Whether the exponent is positive; NO at first.
@property(nonatomic, readwrite) BOOL inverse;

/// None at first.
@property(nonatomic, readwrite) MPSGraphFFTScalingMode scalingMode;

/// Whether HermiteanToRealFFT makes 2 (m - 1) + 1 elements of m, instead of 2 (m - 1); NO at first.
@property(nonatomic, readwrite) BOOL roundToOddHermitean;

@end

/// Transforms over any axes, counted from the end where negative; an axes tensor is a vector of constant integers.
@interface MPSGraph (MPSGraphFourierTransformOps)

/// Of complex numbers, or of real ones taken for complex.
- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                             axes:(NSArray<NSNumber*>*)axes
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                       axesTensor:(MPSGraphTensor*)axesTensor
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

/// Of real numbers; the last of the axes keeps the first n / 2 + 1 elements.
- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                           axes:(NSArray<NSNumber*>*)axes
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                     axesTensor:(MPSGraphTensor*)axesTensor
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// The real transform of what realToHermiteanFFT keeps.
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
