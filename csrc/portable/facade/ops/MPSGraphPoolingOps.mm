// Poolings and their gradients.

#include "facade/ops/window.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

ir::Attributes attributes_of(MPSGraphPooling2DOpDescriptor* descriptor) {
  const WindowFields& window = window_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"pooling2D");
  attributes.set(Attr::kWindow, dims_of(window.kernelHeight, window.kernelWidth));
  attributes.set(Attr::kCeilMode, static_cast<bool>(window.ceilMode));
  attributes.set(Attr::kIncludePadding, static_cast<bool>(window.includeZeroPadToAverage));
  return attributes;
}

// A pooling of images, or of one image without its batch axis; every operand is an image.
MPSGraphTensor* pool(MPSGraph* graph, OpCode code, std::vector<ir::Value> operands,
                     MPSGraphPooling2DOpDescriptor* descriptor, NSString* name) {
  const ir::Attributes attributes = attributes_of(descriptor);
  const ir::Shape shape = operands.back().shape();
  if (!shape.ranked() || shape.rank() != 3) return add(graph, code, operands, attributes, name);
  const ir::Attributes batch{{Attr::kAxes, ir::Dims{0}}};
  for (ir::Value& v : operands) v = value_of(add(graph, OpCode::expand_dims, {v}, batch, nil));
  return add(graph, OpCode::squeeze, {value_of(add(graph, code, operands, attributes, nil))}, batch, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphPoolingOps)

- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  return pool(self, OpCode::max_pool2d, {value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return pool(self, OpCode::max_pool2d_gradient, {value_of(self, gradient), value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  return pool(self, OpCode::avg_pool2d, {value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return pool(self, OpCode::avg_pool2d_gradient, {value_of(self, gradient), value_of(self, source)}, descriptor, name);
}

@end
