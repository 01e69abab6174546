// Convolution of each channel by itself, in two and three dimensions, and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of a depthwise convolution; X is width, Y is height; lengths are in elements.
@interface MPSGraphDepthwiseConvolution2DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Step of the window; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Zeros around the source, used only by the Explicit style; 0 by default.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Layout of the weights; O is the number of filters for each channel.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout weightsLayout;

/// Sets all fields; raises for a zero stride or rate.
+ (instancetype _Nullable)descriptorWithStrideInX:(NSUInteger)strideInX
                                        strideInY:(NSUInteger)strideInY
                                  dilationRateInX:(NSUInteger)dilationRateInX
                                  dilationRateInY:(NSUInteger)dilationRateInY
                                      paddingLeft:(NSUInteger)paddingLeft
                                     paddingRight:(NSUInteger)paddingRight
                                       paddingTop:(NSUInteger)paddingTop
                                    paddingBottom:(NSUInteger)paddingBottom
                                     paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                       dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                    weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// Sets only the layouts.
+ (instancetype _Nullable)descriptorWithDataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                     weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// Sets the padding and the Explicit style.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom;

@end

/// Geometry of a depthwise convolution of volumes. Each list has three numbers, for depth, height and width.
@interface MPSGraphDepthwiseConvolution3DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Steps of the window; 1 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* strides;

/// Distances between taps; 1 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* dilationRates;

/// Six numbers, before and after along each axis, used only by the Explicit style; 0 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* paddingValues;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// The axis of the channels, one of the last four axes of source and weights; -4 by default.
@property(nonatomic, readwrite) NSInteger channelDimensionIndex;

/// Sets all fields but channelDimensionIndex; raises for lists of another length.
+ (instancetype _Nullable)descriptorWithStrides:(NSArray<NSNumber*>*)strides
                                  dilationRates:(NSArray<NSNumber*>*)dilationRates
                                  paddingValues:(NSArray<NSNumber*>*)paddingValues
                                   paddingStyle:(MPSGraphPaddingStyle)paddingStyle;

/// Sets only the style.
+ (instancetype _Nullable)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle;

@end

/// Filter m of M makes channel c * M + m of the result from channel c of the source.
@interface MPSGraph (MPSGraphDepthwiseConvolutionOps)

/// Source and weights of rank 4.
- (MPSGraphTensor*)depthwiseConvolution2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Gradient with respect to the source; `outputShape` is the shape of the source.
- (MPSGraphTensor*)
    depthwiseConvolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                   weightsTensor:(MPSGraphTensor*)weights
                                                     outputShape:(MPSShape*)outputShape
                                                      descriptor:(MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                            name:(NSString* _Nullable)name;

/// Gradient with respect to the weights; `outputShape` is the shape of the weights.
- (MPSGraphTensor*)
    depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                       sourceTensor:(MPSGraphTensor*)source
                                                        outputShape:(MPSShape*)outputShape
                                                         descriptor:
                                                             (MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

/// Source of rank 4 or more and weights of rank 4, with one filter for each channel.
- (MPSGraphTensor*)depthwiseConvolution3DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Gradient with respect to the source; `outputShape` is the shape of the source. With nil the source is the smallest
/// that has as many windows as the gradient has positions.
- (MPSGraphTensor*)
    depthwiseConvolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                   weightsTensor:(MPSGraphTensor*)weights
                                                     outputShape:(MPSShape* _Nullable)outputShape
                                                      descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                            name:(NSString* _Nullable)name;

/// Gradient with respect to the weights; `outputShape` is the shape of the weights.
- (MPSGraphTensor*)
    depthwiseConvolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                       sourceTensor:(MPSGraphTensor*)source
                                                        outputShape:(MPSShape*)outputShape
                                                         descriptor:
                                                             (MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
