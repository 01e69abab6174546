// Convolution in two and three dimensions, and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of a convolution; X is width, Y is height, lengths in elements.
@interface MPSGraphConvolution2DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Step of the window; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Zeros around the source, only used by the Explicit style; 0 by default.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Layout of the weights.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout weightsLayout;

/// Number of independent groups of channels; 1 by default.
@property(nonatomic, readwrite) NSUInteger groups;

/// All fields; raises for a zero stride, rate or group count.
+ (instancetype _Nullable)descriptorWithStrideInX:(NSUInteger)strideInX
                                        strideInY:(NSUInteger)strideInY
                                  dilationRateInX:(NSUInteger)dilationRateInX
                                  dilationRateInY:(NSUInteger)dilationRateInY
                                           groups:(NSUInteger)groups
                                      paddingLeft:(NSUInteger)paddingLeft
                                     paddingRight:(NSUInteger)paddingRight
                                       paddingTop:(NSUInteger)paddingTop
                                    paddingBottom:(NSUInteger)paddingBottom
                                     paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                       dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                    weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// All fields but the padding.
+ (instancetype _Nullable)descriptorWithStrideInX:(NSUInteger)strideInX
                                        strideInY:(NSUInteger)strideInY
                                  dilationRateInX:(NSUInteger)dilationRateInX
                                  dilationRateInY:(NSUInteger)dilationRateInY
                                           groups:(NSUInteger)groups
                                     paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                       dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                    weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// Sets the padding and the Explicit style.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom;

@end

/// Geometry of a convolution of volumes; X is width, Y is height, Z is depth; lengths are in elements.
@interface MPSGraphConvolution3DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Step of the window; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;
@property(nonatomic, readwrite) NSUInteger strideInZ;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;
@property(nonatomic, readwrite) NSUInteger dilationRateInZ;

/// Zeros around the source, used only by the Explicit style; 0 by default. Front and back lie along Z.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;
@property(nonatomic, readwrite) NSUInteger paddingFront;
@property(nonatomic, readwrite) NSUInteger paddingBack;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result: NDHWC or NCDHW.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Layout of the weights: DHWIO or OIDHW.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout weightsLayout;

/// Number of independent groups of channels; 1 by default.
@property(nonatomic, readwrite) NSUInteger groups;

/// Sets all fields; raises for a zero stride, rate or group count.
+ (instancetype _Nullable)descriptorWithStrideInX:(NSUInteger)strideInX
                                        strideInY:(NSUInteger)strideInY
                                        strideInZ:(NSUInteger)strideInZ
                                  dilationRateInX:(NSUInteger)dilationRateInX
                                  dilationRateInY:(NSUInteger)dilationRateInY
                                  dilationRateInZ:(NSUInteger)dilationRateInZ
                                           groups:(NSUInteger)groups
                                      paddingLeft:(NSUInteger)paddingLeft
                                     paddingRight:(NSUInteger)paddingRight
                                       paddingTop:(NSUInteger)paddingTop
                                    paddingBottom:(NSUInteger)paddingBottom
                                     paddingFront:(NSUInteger)paddingFront
                                      paddingBack:(NSUInteger)paddingBack
                                     paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                       dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                    weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// Sets all fields but the padding.
+ (instancetype _Nullable)descriptorWithStrideInX:(NSUInteger)strideInX
                                        strideInY:(NSUInteger)strideInY
                                        strideInZ:(NSUInteger)strideInZ
                                  dilationRateInX:(NSUInteger)dilationRateInX
                                  dilationRateInY:(NSUInteger)dilationRateInY
                                  dilationRateInZ:(NSUInteger)dilationRateInZ
                                           groups:(NSUInteger)groups
                                     paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                       dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                                    weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout;

/// Sets the padding and the Explicit style.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom
                             paddingFront:(NSUInteger)paddingFront
                              paddingBack:(NSUInteger)paddingBack;

@end

/// Convolution without kernel flip, zero padded.
@interface MPSGraph (MPSGraphConvolutionOps)

/// Source and weights of rank 4.
- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString* _Nullable)name;

/// Gradient with respect to the source; `outputShape` is the shape of the source.
- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:
                                              (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                  name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)outputShapeTensor
                                          forwardConvolutionDescriptor:
                                              (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                  name:(NSString* _Nullable)name;

/// Gradient with respect to the weights; `outputShape` is the shape of the weights.
- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:
                                                 (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                     name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)outputShapeTensor
                                             forwardConvolutionDescriptor:
                                                 (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                     name:(NSString* _Nullable)name;

/// Source and weights of rank 5.
- (MPSGraphTensor*)convolution3DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                            name:(NSString* _Nullable)name;

/// Gradient with respect to the source; `outputShape` is the shape of the source.
- (MPSGraphTensor*)convolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:
                                              (MPSGraphConvolution3DOpDescriptor*)forwardConvolutionDescriptor
                                                                  name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)outputShapeTensor
                                          forwardConvolutionDescriptor:
                                              (MPSGraphConvolution3DOpDescriptor*)forwardConvolutionDescriptor
                                                                  name:(NSString* _Nullable)name;

/// Gradient with respect to the weights; `outputShape` is the shape of the weights.
- (MPSGraphTensor*)convolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:
                                                 (MPSGraphConvolution3DOpDescriptor*)forwardConvolutionDescriptor
                                                                     name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)outputShapeTensor
                                             forwardConvolutionDescriptor:
                                                 (MPSGraphConvolution3DOpDescriptor*)forwardConvolutionDescriptor
                                                                     name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
