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

MPSGraphConvolution2DOpDescriptor* convolution(const ir::Op& op, const Shape& source, const Shape& weights) {
  const auto axes = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const WindowGeometry g(op, source, weights[axes.height], weights[axes.width]);
  return [MPSGraphConvolution2DOpDescriptor
      descriptorWithStrideInX:static_cast<NSUInteger>(g.width.stride)
                    strideInY:static_cast<NSUInteger>(g.height.stride)
              dilationRateInX:static_cast<NSUInteger>(g.width.dilation)
              dilationRateInY:static_cast<NSUInteger>(g.height.dilation)
                       groups:static_cast<NSUInteger>(op.attributes.integer(Attr::kGroups))
                  paddingLeft:static_cast<NSUInteger>(g.width.before)
                 paddingRight:static_cast<NSUInteger>(g.width.after)
                   paddingTop:static_cast<NSUInteger>(g.height.before)
                paddingBottom:static_cast<NSUInteger>(g.height.after)
                 paddingStyle:MPSGraphPaddingStyleExplicit
                   dataLayout:mps_layout(op.attributes.word(Attr::kDataLayout))
                weightsLayout:mps_layout(op.attributes.word(Attr::kWeightsLayout))];
}

// Of at most kMostImages images at a time, where the framework is wrong about more.
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
  const Shaped gradient = lowering.shaped_x(op, 0), other = lowering.shaped_x(op, 1);
  if (images <= kMostImages || !lowering.has(ir::Quirk::convolution_of_many_images)) {
    return part(gradient, other, images, name);
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
  return to_data ? [graph concatTensors:parts dimension:static_cast<NSInteger>(axis) name:name]
                 : [graph identityWithTensor:sum name:name];
}

}  // namespace

Nodes lower_conv2d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() convolution2DWithSourceTensor:lowering.x(op, 0)
                                           weightsTensor:lowering.x(op, 1)
                                              descriptor:convolution(op, op.operands[0].shape(), op.operands[1].shape())
                                                    name:name];
}

Nodes lower_conv2d_data_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return convolution_gradient(lowering, op, name);
}

Nodes lower_conv2d_weights_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return convolution_gradient(lowering, op, name);
}

}  // namespace alloy::engine
