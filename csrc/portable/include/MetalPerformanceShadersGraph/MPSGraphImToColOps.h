// The elements of windows over images as columns, and back.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of the windows; X is width, Y is height, lengths in elements.
@interface MPSGraphImToColOpDescriptor : MPSGraphObject <NSCopying> {
 @package
  void* _impl;
}

/// Length of the window.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Step of the window; 1 at first.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance of the taps; 1 at first.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Zeros around the image; 0 at first.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Layout of the image.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// All fields; raises for a zero kernel, stride or rate.
+ (instancetype _Nullable)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                                       kernelHeight:(NSUInteger)kernelHeight
                                          strideInX:(NSUInteger)strideInX
                                          strideInY:(NSUInteger)strideInY
                                    dilationRateInX:(NSUInteger)dilationRateInX
                                    dilationRateInY:(NSUInteger)dilationRateInY
                                        paddingLeft:(NSUInteger)paddingLeft
                                       paddingRight:(NSUInteger)paddingRight
                                         paddingTop:(NSUInteger)paddingTop
                                      paddingBottom:(NSUInteger)paddingBottom
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Without padding.
+ (instancetype _Nullable)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                                       kernelHeight:(NSUInteger)kernelHeight
                                          strideInX:(NSUInteger)strideInX
                                          strideInY:(NSUInteger)strideInY
                                    dilationRateInX:(NSUInteger)dilationRateInX
                                    dilationRateInY:(NSUInteger)dilationRateInY
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Sets the padding.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom;

@end

/// Of an NCHW image the columns are (N, C * kernel height * kernel width, windows), of an NHWC image (N, windows,
/// kernel height * kernel width * C).
@interface MPSGraph (MPSGraphImToColOps)

/// The image's elements in each window.
- (MPSGraphTensor*)imToColWithSourceTensor:(MPSGraphTensor*)source
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

/// The sums of the columns' elements at their places in an image of that shape.
- (MPSGraphTensor*)colToImWithSourceTensor:(MPSGraphTensor*)source
                               outputShape:(MPSShape*)outputShape
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
