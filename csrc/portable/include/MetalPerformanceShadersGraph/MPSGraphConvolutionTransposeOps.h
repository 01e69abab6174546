// Two-dimensional transposed convolution and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphConvolutionOps.h>

NS_ASSUME_NONNULL_BEGIN

/// What a convolution's data gradient computes, as an op of its own: the source plays the incoming gradient, so that in
/// the weights O counts the channels of the source, and I those of the result.
@interface MPSGraph (MPSGraphConvolutionTransposeOps)

/// `outputShape` is the shape of the result: the source has as many positions as a convolution of such an image with
/// the same descriptor has windows.
- (MPSGraphTensor*)convolutionTranspose2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolutionTranspose2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Gradient with respect to the source; `outputShape` is the shape of the source.
- (MPSGraphTensor*)convolutionTranspose2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                  weightsTensor:(MPSGraphTensor*)weights
                                                                    outputShape:(MPSShape*)outputShape
                                                   forwardConvolutionDescriptor:
                                                       (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                           name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolutionTranspose2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                  weightsTensor:(MPSGraphTensor*)weights
                                                              outputShapeTensor:(MPSGraphTensor*)outputShape
                                                   forwardConvolutionDescriptor:
                                                       (MPSGraphConvolution2DOpDescriptor*)forwardConvolutionDescriptor
                                                                           name:(NSString* _Nullable)name;

/// Gradient with respect to the weights; `outputShape` is the shape of the weights.
- (MPSGraphTensor*)convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                      sourceTensor:(MPSGraphTensor*)source
                                                                       outputShape:(MPSShape*)outputShape
                                                      forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)
                                                                                       forwardConvolutionDescriptor
                                                                              name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                      sourceTensor:(MPSGraphTensor*)source
                                                                 outputShapeTensor:(MPSGraphTensor*)outputShape
                                                      forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)
                                                                                       forwardConvolutionDescriptor
                                                                              name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
