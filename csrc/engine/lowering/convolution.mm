// Convolutions and their gradients.

#include <algorithm>

#import "engine/lowering/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::kMostImages;
using ir::OpCode;
using ir::Shape;

// The windows of a convolution with weights of shape `weights`.
std::vector<ir::Window> windows_of_convolution(const ir::Op& op, const Shape& source, const Shape& weights) {
  Dims kernel;
  for (int64_t axis : ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout)).spatial) {
    kernel.push_back(weights[axis]);
  }
  return windows_of(op, source, kernel);
}

MPSGraphConvolution2DOpDescriptor* convolution(const ir::Op& op, const Shape& source, const Shape& weights) {
  const std::vector<ir::Window> windows = windows_of_convolution(op, source, weights);
  const ir::Window &y = windows[0], &x = windows[1];
  return
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                       strideInY:unsign(y.stride)
                                                 dilationRateInX:unsign(x.dilation)
                                                 dilationRateInY:unsign(y.dilation)
                                                          groups:unsign(op.attributes.integer(Attr::kGroups))
                                                     paddingLeft:unsign(x.before)
                                                    paddingRight:unsign(x.after)
                                                      paddingTop:unsign(y.before)
                                                   paddingBottom:unsign(y.after)
                                                    paddingStyle:MPSGraphPaddingStyleExplicit
                                                      dataLayout:mps_layout(op.attributes.word(Attr::kDataLayout))
                                                   weightsLayout:mps_layout(op.attributes.word(Attr::kWeightsLayout))];
}

MPSGraphConvolution3DOpDescriptor* convolution_3d(const ir::Op& op, const Shape& source, const Shape& weights) {
  const std::vector<ir::Window> windows = windows_of_convolution(op, source, weights);
  const ir::Window &z = windows[0], &y = windows[1], &x = windows[2];
  return
      [MPSGraphConvolution3DOpDescriptor descriptorWithStrideInX:unsign(x.stride)
                                                       strideInY:unsign(y.stride)
                                                       strideInZ:unsign(z.stride)
                                                 dilationRateInX:unsign(x.dilation)
                                                 dilationRateInY:unsign(y.dilation)
                                                 dilationRateInZ:unsign(z.dilation)
                                                          groups:unsign(op.attributes.integer(Attr::kGroups))
                                                     paddingLeft:unsign(x.before)
                                                    paddingRight:unsign(x.after)
                                                      paddingTop:unsign(y.before)
                                                   paddingBottom:unsign(y.after)
                                                    paddingFront:unsign(z.before)
                                                     paddingBack:unsign(z.after)
                                                    paddingStyle:MPSGraphPaddingStyleExplicit
                                                      dataLayout:mps_layout(op.attributes.word(Attr::kDataLayout))
                                                   weightsLayout:mps_layout(op.attributes.word(Attr::kWeightsLayout))];
}

// The type in which the gradient to the weights is computed.
ir::DType weights_gradient_in(const Lowering& lowering, const ir::Op& op) {
  const ir::DType dtype = op.results[0].dtype;
  return lowering.has(ir::Quirk::half_convolution_gradient) ? computed_in(dtype) : dtype;
}

// Computes at most kMostImages images at a time where the framework gives wrong results for more.
MPSGraphTensor* convolution_gradient(const Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const bool to_data = op.code == OpCode::conv2d_data_gradient;
  const Shape& shape = op.results[0].shape;
  const Shape& source = to_data ? shape : op.operands[1].shape();
  const int64_t axis = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout)).batch;
  const int64_t images = source[axis];
  const auto part = [&](const Shaped& gradient, const Shaped& other, int64_t count, NSString* as) {
    Dims whole = source.dims();
    whole[axis] = count;
    if (to_data) {
      return [graph convolution2DDataGradientWithIncomingGradientTensor:gradient.tensor
                                                          weightsTensor:other.tensor
                                                            outputShape:mps_numbers(whole)
                                           forwardConvolutionDescriptor:convolution(op, whole, op.operands[1].shape())
                                                                   name:as];
    }
    return [graph convolution2DWeightsGradientWithIncomingGradientTensor:gradient.tensor
                                                            sourceTensor:other.tensor
                                                             outputShape:mps_shape(shape)
                                            forwardConvolutionDescriptor:convolution(op, whole, shape)
                                                                    name:as];
  };
  const ir::DType dtype = op.results[0].dtype, wide = to_data ? dtype : weights_gradient_in(lowering, op);
  const auto widened = [&](size_t i) {
    return Shaped{as_type(graph, lowering.x(op, i), dtype, wide), op.operands[i].shape().dims()};
  };
  const Shaped gradient = widened(0), other = widened(1);
  if (images <= kMostImages || !lowering.has(ir::Quirk::convolution_of_many_images)) {
    return as_type(graph, part(gradient, other, images, wide == dtype ? name : nil), wide, dtype, name);
  }
  NSMutableArray* parts = [NSMutableArray array];
  MPSGraphTensor* sum = nil;
  for (int64_t start = 0; start < images; start += kMostImages) {
    const int64_t count = std::min(kMostImages, images - start);
    const Shaped some = slice_along(graph, gradient, axis, start, count);
    MPSGraphTensor* made = part(some, to_data ? other : slice_along(graph, other, axis, start, count), count, nil);
    if (to_data) [parts addObject:made];
    else sum = sum == nil ? made : [graph additionWithPrimaryTensor:sum secondaryTensor:made name:nil];
  }
  return to_data         ? [graph concatTensors:parts dimension:static_cast<NSInteger>(axis) name:name]
         : wide == dtype ? [graph identityWithTensor:sum name:name]
                         : as_type(graph, sum, wide, dtype, name);
}

}  // namespace

Nodes lower_conv2d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() convolution2DWithSourceTensor:lowering.x(op, 0)
                                           weightsTensor:lowering.x(op, 1)
                                              descriptor:convolution(op, op.operands[0].shape(), op.operands[1].shape())
                                                    name:name];
}

Nodes lower_conv2d_data_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  if (op.results[0].is_static()) return convolution_gradient(lowering, op, name);
  const Shape &source = op.results[0].shape, &weights = op.operands[1].shape();
  return [lowering.graph()
      convolution2DDataGradientWithIncomingGradientTensor:lowering.x(op, 0)
                                            weightsTensor:lowering.x(op, 1)
                                        outputShapeTensor:[lowering.graph() shapeOfTensor:lowering.x(op, 2) name:nil]
                             forwardConvolutionDescriptor:convolution(op, source, weights)
                                                     name:name];
}

Nodes lower_conv2d_weights_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return convolution_gradient(lowering, op, name);
}

Nodes lower_conv3d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return
      [lowering.graph() convolution3DWithSourceTensor:lowering.x(op, 0)
                                        weightsTensor:lowering.x(op, 1)
                                           descriptor:convolution_3d(op, op.operands[0].shape(), op.operands[1].shape())
                                                 name:name];
}

Nodes lower_conv3d_data_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Shape& source = op.results[0].shape;
  return [lowering.graph()
      convolution3DDataGradientWithIncomingGradientTensor:lowering.x(op, 0)
                                            weightsTensor:lowering.x(op, 1)
                                              outputShape:mps_shape(source)
                             forwardConvolutionDescriptor:convolution_3d(op, source, op.operands[1].shape())
                                                     name:name];
}

Nodes lower_conv3d_weights_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const Shape& weights = op.results[0].shape;
  const ir::DType dtype = op.results[0].dtype, wide = weights_gradient_in(lowering, op);
  MPSGraphTensor* made =
      [graph convolution3DWeightsGradientWithIncomingGradientTensor:as_type(graph, lowering.x(op, 0), dtype, wide)
                                                       sourceTensor:as_type(graph, lowering.x(op, 1), dtype, wide)
                                                        outputShape:mps_shape(weights)
                                       forwardConvolutionDescriptor:convolution_3d(op, op.operands[1].shape(), weights)
                                                               name:wide == dtype ? name : nil];
  return as_type(graph, made, wide, dtype, name);
}

}  // namespace alloy::engine
