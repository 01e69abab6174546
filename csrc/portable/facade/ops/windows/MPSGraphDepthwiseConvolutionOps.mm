// Depthwise convolutions and their gradients.

#include "facade/ops/windows/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;

namespace {

ir::Attributes attributes_of(MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor) {
  const WindowFields& window = fields_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"depthwiseConvolution2D");
  attributes.set(Attr::kWeightsLayout, layout_word(window.weightsLayout, @"depthwiseConvolution2D"));
  return attributes;
}

ir::Attributes attributes_of(MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor) {
  const WindowLists& lists = fields_of(descriptor);
  ir::Attributes attributes = list_attributes(lists, @"depthwiseConvolution3D");
  attributes.set(Attr::kAxis, int64_t{lists.channelDimensionIndex});
  return attributes;
}

template <Composite composite, class Descriptor>
MPSGraphTensor* gradient_of(MPSGraph* graph, MPSGraphTensor* gradient, MPSGraphTensor* other, MPSShape* shape,
                            Descriptor* descriptor, NSString* name) {
  const ir::Value g = value_of(graph, gradient);
  return add(graph, composite, {g, value_of(graph, other), unspecified(graph, shape, g.dtype())},
             attributes_of(descriptor), name);
}

// The smallest source from which windows of the weights make a result of this shape.
MPSShape* smallest_source(MPSGraph* graph, MPSGraphTensor* gradient, MPSGraphTensor* weights,
                          MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor) {
  const WindowLists& lists = fields_of(descriptor);
  const ir::Shape g = value_of(graph, gradient).shape(), w = value_of(graph, weights).shape();
  if (!g.ranked() || g.rank() < 4 || !w.ranked() || w.rank() != 4) {
    raise_invalid(
        @"[depthwiseConvolution3D] An incoming gradient of rank 4 or more and weights of rank 4 were expected.");
  }
  ir::Dims dims = g.dims();
  for (int64_t i = 0, axis = 0; i < 4; ++i) {
    if (i == 4 + lists.channelDimensionIndex) continue;
    int64_t& extent = dims[g.rank() - 4 + i];
    const bool is_explicit = lists.paddingStyle == MPSGraphPaddingStyleExplicit;
    const bool is_same = !is_explicit && lists.paddingStyle != MPSGraphPaddingStyleTF_VALID;
    const int64_t reach = is_same ? 1 : (w[i] - 1) * lists.dilationRates[axis] + 1;
    if (extent != ir::kUnknown) {
      extent = (extent - 1) * lists.strides[axis] + reach;
      if (is_explicit) extent -= lists.paddingValues[2 * axis] + lists.paddingValues[2 * axis + 1];
    }
    ++axis;
  }
  return mps_shape_of(ir::Shape(dims));
}

}  // namespace

@implementation MPSGraph (MPSGraphDepthwiseConvolutionOps)

- (MPSGraphTensor*)depthwiseConvolution2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return add(self, Composite::depthwise_conv2d, {value_of(self, source), value_of(self, weights)},
             attributes_of(descriptor), name);
}

OUTPUT_SHAPE_SELECTOR(depthwiseConvolution2DDataGradientWithIncomingGradientTensor, weightsTensor, outputShape,
                      MPSShape*, descriptor, MPSGraphDepthwiseConvolution2DOpDescriptor,
                      gradient_of<Composite::depthwise_conv2d_data_gradient>)

OUTPUT_SHAPE_SELECTOR(depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor, sourceTensor, outputShape,
                      MPSShape*, descriptor, MPSGraphDepthwiseConvolution2DOpDescriptor,
                      gradient_of<Composite::depthwise_conv2d_weights_gradient>)

- (MPSGraphTensor*)depthwiseConvolution3DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return add(self, Composite::depthwise_conv3d, {value_of(self, source), value_of(self, weights)},
             attributes_of(descriptor), name);
}

- (MPSGraphTensor*)
    depthwiseConvolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradient
                                                   weightsTensor:(MPSGraphTensor*)weights
                                                     outputShape:(MPSShape*)outputShape
                                                      descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                            name:(NSString*)name {
  if (outputShape == nil) outputShape = smallest_source(self, incomingGradient, weights, descriptor);
  return gradient_of<Composite::depthwise_conv3d_data_gradient>(self, incomingGradient, weights, outputShape,
                                                                descriptor, name);
}

OUTPUT_SHAPE_SELECTOR(depthwiseConvolution3DWeightsGradientWithIncomingGradientTensor, sourceTensor, outputShape,
                      MPSShape*, descriptor, MPSGraphDepthwiseConvolution3DOpDescriptor,
                      gradient_of<Composite::depthwise_conv3d_weights_gradient>)

@end
