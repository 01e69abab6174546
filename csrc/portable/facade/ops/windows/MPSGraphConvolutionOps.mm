// Convolutions and their gradients.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::OpCode;

namespace {

ir::Attributes attributes_of(MPSGraphConvolution2DOpDescriptor* descriptor) {
  const WindowFields& window = fields_of(descriptor);
  return convolution_attributes(window_attributes(window, @"convolution2D"), window, @"convolution2D");
}

ir::Attributes attributes_of(MPSGraphConvolution3DOpDescriptor* descriptor) {
  const WindowFields& window = fields_of(descriptor);
  return convolution_attributes(volume_attributes(window, @"convolution3D"), window, @"convolution3D");
}

template <OpCode code, class Shape, class Descriptor>
MPSGraphTensor* gradient_of(MPSGraph* graph, MPSGraphTensor* incoming, MPSGraphTensor* other, Shape* shape,
                            Descriptor* descriptor, NSString* name) {
  const ir::Value g = value_of(graph, incoming);
  return add(graph, code, {g, value_of(graph, other), unspecified(graph, shape, g.dtype())}, attributes_of(descriptor),
             name);
}

}  // namespace

@implementation MPSGraph (MPSGraphConvolutionOps)

- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  return add(self, OpCode::conv2d, {value_of(self, source), value_of(self, weights)}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution3DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution3DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  return add(self, OpCode::conv3d, {value_of(self, source), value_of(self, weights)}, attributes_of(descriptor), name);
}

OUTPUT_SHAPE_SELECTORS(convolution2DDataGradientWithIncomingGradientTensor, weightsTensor, forwardConvolutionDescriptor,
                       MPSGraphConvolution2DOpDescriptor, gradient_of<OpCode::conv2d_data_gradient>)
OUTPUT_SHAPE_SELECTORS(convolution2DWeightsGradientWithIncomingGradientTensor, sourceTensor,
                       forwardConvolutionDescriptor, MPSGraphConvolution2DOpDescriptor,
                       gradient_of<OpCode::conv2d_weights_gradient>)
OUTPUT_SHAPE_SELECTORS(convolution3DDataGradientWithIncomingGradientTensor, weightsTensor, forwardConvolutionDescriptor,
                       MPSGraphConvolution3DOpDescriptor, gradient_of<OpCode::conv3d_data_gradient>)
OUTPUT_SHAPE_SELECTORS(convolution3DWeightsGradientWithIncomingGradientTensor, sourceTensor,
                       forwardConvolutionDescriptor, MPSGraphConvolution3DOpDescriptor,
                       gradient_of<OpCode::conv3d_weights_gradient>)

@end
