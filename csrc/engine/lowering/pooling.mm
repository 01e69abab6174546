// Poolings and their gradients.

#import "engine/lowering/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Shape;

MPSGraphPooling2DOpDescriptor* pooling(const ir::Op& op, const Shape& source) {
  const std::vector<ir::Window> windows = windows_of(op, source, op.attributes.ints(Attr::kWindow));
  const ir::Window &y = windows[0], &x = windows[1];
  MPSGraphPooling2DOpDescriptor* descriptor =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:unsign(x.size)
                                                  kernelHeight:unsign(y.size)
                                                     strideInX:unsign(x.stride)
                                                     strideInY:unsign(y.stride)
                                               dilationRateInX:unsign(x.dilation)
                                               dilationRateInY:unsign(y.dilation)
                                                   paddingLeft:unsign(x.before)
                                                  paddingRight:unsign(x.after)
                                                    paddingTop:unsign(y.before)
                                                 paddingBottom:unsign(y.after)
                                                  paddingStyle:MPSGraphPaddingStyleExplicit
                                                    dataLayout:mps_layout(op.attributes.word(Attr::kDataLayout))];
  [descriptor setCeilMode:op.attributes.flag(Attr::kCeilMode)];
  [descriptor setIncludeZeroPadToAverage:op.attributes.flag(Attr::kIncludePadding)];
  return descriptor;
}

MPSGraphPooling4DOpDescriptor* pooling_4d(const ir::Op& op, const Shape& source) {
  Dims padding;
  for (const ir::Window& window : windows_of(op, source, op.attributes.ints(Attr::kWindow))) {
    padding.push_back(window.before);
    padding.push_back(window.after);
  }
  MPSGraphPooling4DOpDescriptor* descriptor =
      [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:mps_numbers(op.attributes.ints(Attr::kWindow))
                                                       strides:mps_numbers(op.attributes.ints(Attr::kStrides))
                                                 dilationRates:mps_numbers(op.attributes.ints(Attr::kDilations))
                                                 paddingValues:mps_numbers(padding)
                                                  paddingStyle:MPSGraphPaddingStyleExplicit];
  [descriptor setCeilMode:op.attributes.flag(Attr::kCeilMode)];
  [descriptor setIncludeZeroPadToAverage:op.attributes.flag(Attr::kIncludePadding)];
  return descriptor;
}

MPSGraphPoolingReturnIndicesMode mode_of(const ir::PoolIndices& indices) {
  const int64_t before_first =
      indices.are_local ? MPSGraphPoolingReturnIndicesGlobalFlatten4D : MPSGraphPoolingReturnIndicesNone;
  return static_cast<MPSGraphPoolingReturnIndicesMode>(before_first + indices.axes);
}

}  // namespace

Nodes lower_max_pool2d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() maxPooling2DWithSourceTensor:lowering.x(op)
                                             descriptor:pooling(op, op.operands[0].shape())
                                                   name:name];
}

Nodes lower_max_pool2d_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() maxPooling2DGradientWithGradientTensor:lowering.x(op, 0)
                                                     sourceTensor:lowering.x(op, 1)
                                                       descriptor:pooling(op, op.results[0].shape)
                                                             name:name];
}

Nodes lower_avg_pool2d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() avgPooling2DWithSourceTensor:lowering.x(op)
                                             descriptor:pooling(op, op.operands[0].shape())
                                                   name:name];
}

Nodes lower_avg_pool2d_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() avgPooling2DGradientWithGradientTensor:lowering.x(op, 0)
                                                     sourceTensor:lowering.x(op, 1)
                                                       descriptor:pooling(op, op.results[0].shape)
                                                             name:name];
}

Nodes lower_max_pool4d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() maxPooling4DWithSourceTensor:lowering.x(op)
                                             descriptor:pooling_4d(op, op.operands[0].shape())
                                                   name:name];
}

Nodes lower_max_pool4d_with_indices(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraphPooling4DOpDescriptor* descriptor = pooling_4d(op, op.operands[0].shape());
  [descriptor setReturnIndicesMode:mode_of(ir::PoolIndices::of(op.attributes.word(Attr::kIndicesMode)))];
  [descriptor setReturnIndicesDataType:MPSDataTypeInt32];
  return [lowering.graph() maxPooling4DReturnIndicesWithSourceTensor:lowering.x(op) descriptor:descriptor name:name];
}

Nodes lower_max_pool4d_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() maxPooling4DGradientWithGradientTensor:lowering.x(op, 0)
                                                     sourceTensor:lowering.x(op, 1)
                                                       descriptor:pooling_4d(op, op.results[0].shape)
                                                             name:name];
}

Nodes lower_avg_pool4d(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() avgPooling4DWithSourceTensor:lowering.x(op)
                                             descriptor:pooling_4d(op, op.operands[0].shape())
                                                   name:name];
}

Nodes lower_avg_pool4d_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() avgPooling4DGradientWithGradientTensor:lowering.x(op, 0)
                                                     sourceTensor:lowering.x(op, 1)
                                                       descriptor:pooling_4d(op, op.results[0].shape)
                                                             name:name];
}

}  // namespace alloy::engine
