// The windows of images as columns, and the way back.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of the windows; X is width, Y is height; lengths are in elements.
@interface MPSGraphImToColOpDescriptor : MPSGraphObject <NSCopying> {
 @package
  void* _impl;
}

/// Length of the window.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Step of the window; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Zeros around the image; 0 by default.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Layout of the image.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Sets all fields; raises for a zero kernel, stride or rate.
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

/// Sets all fields but the padding.
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

/// The columns of an NCHW image are (N, C * kernel height * kernel width, windows), those of an NHWC image (N, windows,
/// kernel height * kernel width * C).
@interface MPSGraph (MPSGraphImToColOps)

/// Copies the image's elements in each window.
- (MPSGraphTensor*)imToColWithSourceTensor:(MPSGraphTensor*)source
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

/// Adds each element of the columns to its position in an image of shape `outputShape`.
- (MPSGraphTensor*)colToImWithSourceTensor:(MPSGraphTensor*)source
                               outputShape:(MPSShape*)outputShape
                                descriptor:(MPSGraphImToColOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
