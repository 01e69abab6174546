// Two-dimensional transposed convolution and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphConvolutionOps.h>

NS_ASSUME_NONNULL_BEGIN

/// Transposed convolution: it computes what the data gradient of a convolution computes, with the source as the
/// incoming gradient. In the weights, O counts the channels of the source and I the channels of the result.
@interface MPSGraph (MPSGraphConvolutionTransposeOps)

/// `outputShape` is the shape of the result. A convolution of an image of this shape with the same descriptor must have
/// as many windows as the source has positions.
- (MPSGraphTensor*)convolutionTranspose2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
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

/// The same with the shape in a tensor of rank 1.
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

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                      sourceTensor:(MPSGraphTensor*)source
                                                                 outputShapeTensor:(MPSGraphTensor*)outputShape
                                                      forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)
                                                                                       forwardConvolutionDescriptor
                                                                              name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
