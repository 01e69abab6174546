// Transposed convolutions and their gradients: the data gradient of a convolution, and its own gradient.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::OpCode;

namespace {

ir::Attributes transposed_attributes(MPSGraphConvolution2DOpDescriptor* descriptor) {
  NSString* const method = @"convolutionTranspose2D";
  const WindowFields& window = fields_of(descriptor);
  return convolution_attributes(window_attributes(window, method), window, method);
}

// The shape of the result is given as numbers or as a tensor.
template <class Shape>
MPSGraphTensor* transposed(MPSGraph* graph, MPSGraphTensor* source, MPSGraphTensor* weights, Shape* shape,
                           MPSGraphConvolution2DOpDescriptor* descriptor, NSString* name) {
  const ir::Value x = value_of(graph, source);
  return add(graph, OpCode::conv2d_data_gradient, {x, value_of(graph, weights), unspecified(graph, shape, x.dtype())},
             transposed_attributes(descriptor), name);
}

// The gradient to the source, of the given shape. It must be the source's shape unless padding or strides leave a
// choice.
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

OUTPUT_SHAPE_SELECTORS(convolutionTranspose2DWithSourceTensor, weightsTensor, descriptor,
                       MPSGraphConvolution2DOpDescriptor, transposed)
OUTPUT_SHAPE_SELECTORS(convolutionTranspose2DDataGradientWithIncomingGradientTensor, weightsTensor,
                       forwardConvolutionDescriptor, MPSGraphConvolution2DOpDescriptor, data_gradient)
OUTPUT_SHAPE_SELECTORS(convolutionTranspose2DWeightsGradientWithIncomingGradientTensor, sourceTensor,
                       forwardConvolutionDescriptor, MPSGraphConvolution2DOpDescriptor, weights_gradient)

@end
