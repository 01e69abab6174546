// Two-dimensional pooling and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of a pooling; X is width, Y is height, lengths in elements.
@interface MPSGraphPooling2DOpDescriptor : NSObject <NSCopying> {
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

/// Padding around the source, used by the Explicit style only; 0 at first.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Explicit at first.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Whether the result length is rounded up; NO at first.
@property(nonatomic, readwrite) BOOL ceilMode;

/// Whether padding counts in the divisor of an average; NO at first.
@property(nonatomic, readwrite) BOOL includeZeroPadToAverage;

/// All fields of the geometry; raises for a zero kernel, stride or rate.
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
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Rates 1, padding 0.
+ (instancetype _Nullable)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                                       kernelHeight:(NSUInteger)kernelHeight
                                          strideInX:(NSUInteger)strideInX
                                          strideInY:(NSUInteger)strideInY
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Sets the padding and the Explicit style.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom;

@end

/// Pooling of sources of rank 4, or of one image of rank 3.
@interface MPSGraph (MPSGraphPoolingOps)

/// Largest element of each window, NaN where it holds one; padding never wins.
- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Its gradient, to the first largest element in window order, or to the first NaN.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Mean of each window.
- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Its gradient.
- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
