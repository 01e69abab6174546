// Transposed convolutions and their gradients: a convolution's data gradient, and what flows back through that.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

ir::Attributes transposed_attributes(MPSGraphConvolution2DOpDescriptor* descriptor) {
  const WindowFields& window = window_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"convolutionTranspose2D");
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, @"convolutionTranspose2D"));
  attributes.set(Attr::kGroups, static_cast<int64_t>(window.groups));
  return attributes;
}

// The shape of the result is given itself or in a tensor.
template <class Shape>
MPSGraphTensor* transposed(MPSGraph* graph, MPSGraphTensor* source, MPSGraphTensor* weights, Shape* shape,
                           MPSGraphConvolution2DOpDescriptor* descriptor, NSString* name) {
  const ir::Value x = value_of(graph, source);
  return add(graph, OpCode::conv2d_data_gradient, {x, value_of(graph, weights), unspecified(graph, shape, x.dtype())},
             transposed_attributes(descriptor), name);
}

// Of the shape that is given: a convolution has no other, but where its padding or strides leave several.
template <class Shape>
MPSGraphTensor* data_gradient(MPSGraph* graph, MPSGraphTensor* gradient, MPSGraphTensor* weights, Shape* shape,
                              MPSGraphConvolution2DOpDescriptor* descriptor, NSString* name) {
  const ir::Value g = value_of(graph, gradient), like = unspecified(graph, shape, g.dtype());
  const ir::Value y =
      value_of(add(graph, OpCode::conv2d, {g, value_of(graph, weights)}, transposed_attributes(descriptor), nil));
  if (!unify(y.shape(), like.shape())) {
    raise_invalid(@"[convolutionTranspose2D] The source has shape %s, but shape %s was given.",
                  to_string(y.shape()).c_str(), to_string(like.shape()).c_str());
  }
  return add(graph, OpCode::reshape_like, {y, like}, {}, name);
}

template <class Shape>
MPSGraphTensor* weights_gradient(MPSGraph* graph, MPSGraphTensor* gradient, MPSGraphTensor* source, Shape* shape,
                                 MPSGraphConvolution2DOpDescriptor* descriptor, NSString* name) {
  const ir::Value g = value_of(graph, gradient);
  return add(graph, OpCode::conv2d_weights_gradient, {value_of(graph, source), g, unspecified(graph, shape, g.dtype())},
             transposed_attributes(descriptor), name);
}

}  // namespace

@implementation MPSGraph (MPSGraphConvolutionTransposeOps)

- (MPSGraphTensor*)convolutionTranspose2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return transposed(self, source, weights, outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolutionTranspose2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return transposed(self, source, weights, outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolutionTranspose2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                  weightsTensor:(MPSGraphTensor*)weights
                                                                    outputShape:(MPSShape*)outputShape
                                                   forwardConvolutionDescriptor:
                                                       (MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                           name:(NSString*)name {
  return data_gradient(self, incomingGradient, weights, outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolutionTranspose2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                  weightsTensor:(MPSGraphTensor*)weights
                                                              outputShapeTensor:(MPSGraphTensor*)outputShape
                                                   forwardConvolutionDescriptor:
                                                       (MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                           name:(NSString*)name {
  return data_gradient(self, incomingGradient, weights, outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                      sourceTensor:(MPSGraphTensor*)source
                                                                       outputShape:(MPSShape*)outputShape
                                                      forwardConvolutionDescriptor:
                                                          (MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                              name:(NSString*)name {
  return weights_gradient(self, incomingGradient, source, outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolutionTranspose2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                                      sourceTensor:(MPSGraphTensor*)source
                                                                 outputShapeTensor:(MPSGraphTensor*)outputShape
                                                      forwardConvolutionDescriptor:
                                                          (MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                              name:(NSString*)name {
  return weights_gradient(self, incomingGradient, source, outputShape, descriptor, name);
}

@end
