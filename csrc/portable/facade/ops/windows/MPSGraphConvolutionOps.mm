// Convolutions and their gradients.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

ir::Attributes attributes_of(MPSGraphConvolution2DOpDescriptor* descriptor) {
  const WindowFields& window = window_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"convolution2D");
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, @"convolution2D"));
  attributes.set(Attr::kGroups, static_cast<int64_t>(window.groups));
  return attributes;
}

ir::Attributes attributes_of(MPSGraphConvolution3DOpDescriptor* descriptor) {
  const WindowFields& window = window_of(descriptor);
  ir::Attributes attributes = volume_attributes(window, @"convolution3D");
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, @"convolution3D"));
  attributes.set(Attr::kGroups, static_cast<int64_t>(window.groups));
  return attributes;
}

// A gradient from `operands`; the shape of the result is given itself or in a tensor.
template <class Shape, class Descriptor>
MPSGraphTensor* add_gradient(MPSGraph* graph, OpCode code, std::vector<ir::Value> operands, Shape* shape,
                             Descriptor* descriptor, NSString* name) {
  operands.push_back(unspecified(graph, shape, operands[0].dtype()));
  return add(graph, code, operands, attributes_of(descriptor), name);
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
  return add_gradient(self, OpCode::conv2d_data_gradient, {value_of(self, gradient), value_of(self, weights)},
                      outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  return add_gradient(self, OpCode::conv2d_data_gradient, {value_of(self, gradient), value_of(self, weights)},
                      shapeTensor, descriptor, name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  return add_gradient(self, OpCode::conv2d_weights_gradient, {value_of(self, gradient), value_of(self, source)},
                      outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  return add_gradient(self, OpCode::conv2d_weights_gradient, {value_of(self, gradient), value_of(self, source)},
                      shapeTensor, descriptor, name);
}

- (MPSGraphTensor*)convolution3DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  return add(self, OpCode::conv3d, {value_of(self, source), value_of(self, weights)}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  return add_gradient(self, OpCode::conv3d_data_gradient, {value_of(self, gradient), value_of(self, weights)},
                      outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                          forwardConvolutionDescriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  return add_gradient(self, OpCode::conv3d_data_gradient, {value_of(self, gradient), value_of(self, weights)},
                      shapeTensor, descriptor, name);
}

- (MPSGraphTensor*)convolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  return add_gradient(self, OpCode::conv3d_weights_gradient, {value_of(self, gradient), value_of(self, source)},
                      outputShape, descriptor, name);
}

- (MPSGraphTensor*)convolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                             forwardConvolutionDescriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  return add_gradient(self, OpCode::conv3d_weights_gradient, {value_of(self, gradient), value_of(self, source)},
                      shapeTensor, descriptor, name);
}

@end
