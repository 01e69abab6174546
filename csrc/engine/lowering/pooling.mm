// Poolings and their gradients.

#import "engine/lowering/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Shape;

MPSGraphPooling2DOpDescriptor* pooling(const ir::Op& op, const Shape& source) {
  const Dims& window = op.attributes.ints(Attr::kWindow);
  const Geometry g(op, source, window[0], window[1]);
  MPSGraphPooling2DOpDescriptor* descriptor =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:static_cast<NSUInteger>(window[1])
                                                  kernelHeight:static_cast<NSUInteger>(window[0])
                                                     strideInX:static_cast<NSUInteger>(g.width.stride)
                                                     strideInY:static_cast<NSUInteger>(g.height.stride)
                                               dilationRateInX:static_cast<NSUInteger>(g.width.dilation)
                                               dilationRateInY:static_cast<NSUInteger>(g.height.dilation)
                                                   paddingLeft:static_cast<NSUInteger>(g.width.before)
                                                  paddingRight:static_cast<NSUInteger>(g.width.after)
                                                    paddingTop:static_cast<NSUInteger>(g.height.before)
                                                 paddingBottom:static_cast<NSUInteger>(g.height.after)
                                                  paddingStyle:MPSGraphPaddingStyleExplicit
                                                    dataLayout:mps_layout(op.attributes.word(Attr::kDataLayout))];
  [descriptor setCeilMode:op.attributes.flag(Attr::kCeilMode)];
  [descriptor setIncludeZeroPadToAverage:op.attributes.flag(Attr::kIncludePadding)];
  return descriptor;
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

}  // namespace alloy::engine
