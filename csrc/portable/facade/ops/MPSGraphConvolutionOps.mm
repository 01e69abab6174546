// Convolutions and their gradients.

#include "facade/ops/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

ir::Attributes attributes_of(MPSGraphConvolution2DOpDescriptor* descriptor) {
  const Window& window = window_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"convolution2D");
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, @"convolution2D"));
  attributes.set(Attr::kGroups, static_cast<int64_t>(window.groups));
  return attributes;
}

}  // namespace

@implementation MPSGraph (MPSGraphConvolutionOps)

- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  return add(self, OpCode::conv2d, {value_of(self, source), value_of(self, weights)}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), w = value_of(self, weights);
  return add(self, OpCode::conv2d_data_gradient, {g, w, empty(self, outputShape, g.dtype())}, attributes_of(descriptor),
             name);
}

- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), w = value_of(self, weights);
  const ir::Value like = shaped(self, shapeTensor, g.dtype());
  return add(self, OpCode::conv2d_data_gradient, {g, w, like}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), x = value_of(self, source);
  return add(self, OpCode::conv2d_weights_gradient, {g, x, empty(self, outputShape, g.dtype())},
             attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), x = value_of(self, source);
  const ir::Value like = shaped(self, shapeTensor, g.dtype());
  return add(self, OpCode::conv2d_weights_gradient, {g, x, like}, attributes_of(descriptor), name);
}

@end
