// Poolings and their gradients.

#include "facade/ops/windows/window.h"
#include "ir/rules/windows.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;
using ir::OpCode;

namespace {

ir::Attributes attributes_of(MPSGraphPooling2DOpDescriptor* descriptor) {
  const WindowFields& window = fields_of(descriptor);
  ir::Attributes attributes = window_attributes(window, @"pooling2D");
  attributes.set(Attr::kWindow, dims_of(window.kernelHeight, window.kernelWidth));
  attributes.set(Attr::kCeilMode, static_cast<bool>(window.ceilMode));
  attributes.set(Attr::kIncludePadding, static_cast<bool>(window.includeZeroPadToAverage));
  return attributes;
}

ir::Attributes attributes_of(MPSGraphPooling4DOpDescriptor* descriptor) {
  const WindowLists& lists = fields_of(descriptor);
  ir::Attributes attributes = list_attributes(lists, @"pooling4D");
  attributes.set(Attr::kWindow, lists.kernelSizes);
  attributes.set(Attr::kCeilMode, static_cast<bool>(lists.ceilMode));
  attributes.set(Attr::kIncludePadding, static_cast<bool>(lists.includeZeroPadToAverage));
  return attributes;
}

// ir's word for the mode; raises for None.
std::string indices_word(MPSGraphPoolingReturnIndicesMode mode) {
  if (mode == MPSGraphPoolingReturnIndicesNone) {
    raise_invalid(@"[maxPooling] The descriptor's returnIndicesMode is None, but the method returns indices.");
  }
  static constexpr const char* kWords[] = {"global_1d", "global_2d", "global_3d", "global_4d",
                                           "local_1d",  "local_2d",  "local_3d",  "local_4d"};
  return kWords[mode - 1];
}

ir::Attributes indexed_attributes(MPSGraphPooling4DOpDescriptor* descriptor) {
  ir::Attributes attributes = attributes_of(descriptor);
  attributes.set(Attr::kIndicesMode, indices_word(fields_of(descriptor).returnIndicesMode));
  return attributes;
}

// A window over height and width as a window over four axes.
ir::Attributes indexed_attributes(MPSGraphPooling2DOpDescriptor* descriptor) {
  const ir::Attributes flat = attributes_of(descriptor);
  const ir::Dims axes = ir::window_axes(flat, 4);
  ir::Attributes attributes{{Attr::kPaddingStyle, flat.word(Attr::kPaddingStyle)},
                            {Attr::kCeilMode, flat.flag(Attr::kCeilMode)},
                            {Attr::kIncludePadding, flat.flag(Attr::kIncludePadding)},
                            {Attr::kIndicesMode, indices_word(fields_of(descriptor).returnIndicesMode)}};
  for (Attr attr : {Attr::kWindow, Attr::kStrides, Attr::kDilations}) {
    ir::Dims four(4, 1);
    for (int64_t i = 0; i < 2; ++i) four[axes[i]] = flat.ints(attr)[i];
    attributes.set(attr, four);
  }
  ir::Dims padding(8, 0);
  for (int64_t i = 0; i < 4; ++i) padding[2 * axes[i / 2] + i % 2] = flat.ints(Attr::kPadding)[i];
  attributes.set(Attr::kPadding, padding);
  return attributes;
}

const ir::Attributes kBatchAxis{{Attr::kAxes, ir::Dims{0}}};

bool is_one_image(const ir::Value& v) { return v.shape().ranked() && v.shape().rank() == 3; }

NSArray<MPSGraphTensor*>* pool_with_indices(MPSGraph* graph, ir::Value source, const ir::Attributes& attributes,
                                            bool may_be_one_image, NSString* name) {
  const bool is_one = may_be_one_image && is_one_image(source);
  if (is_one) source = value_of(add(graph, OpCode::expand_dims, {source}, kBatchAxis, nil));
  ir::Op* op = add_op(graph, OpCode::max_pool4d_with_indices, {source}, attributes, is_one ? nil : name);
  MPSGraphTensor* results[2];
  for (uint32_t i = 0; i < 2; ++i) {
    results[i] = is_one ? add(graph, OpCode::squeeze, {op->result(i)}, kBatchAxis, i == 0 ? name : nil)
                        : tensor_of(graph_of(graph), op->result(i));
  }
  return [NSArray arrayWithObjects:results count:2];
}

// The shape of the source is given as numbers or as a tensor.
template <class Shape, class Descriptor>
MPSGraphTensor* gradient_from_indices(MPSGraph* graph, MPSGraphTensor* gradient, MPSGraphTensor* indices, Shape* shape,
                                      Descriptor* descriptor, NSString* name) {
  const ir::Attributes attributes = indexed_attributes(descriptor);
  ir::Value g = value_of(graph, gradient), places = value_of(graph, indices);
  ir::Value like = unspecified(graph, shape, g.dtype());
  const bool is_one = is_one_image(g);
  if (is_one) {
    for (ir::Value* v : {&g, &places, &like}) {
      *v = value_of(add(graph, OpCode::expand_dims, {*v}, kBatchAxis, nil));
    }
  }
  MPSGraphTensor* whole =
      add(graph, Composite::max_pool4d_gradient_with_indices, {g, places, like}, attributes, is_one ? nil : name);
  return is_one ? add(graph, OpCode::squeeze, {value_of(whole)}, kBatchAxis, name) : whole;
}

// A pooling of images, or of one image without its batch axis; every operand is an image.
MPSGraphTensor* pool(MPSGraph* graph, OpCode code, std::vector<ir::Value> operands,
                     MPSGraphPooling2DOpDescriptor* descriptor, NSString* name) {
  const ir::Attributes attributes = attributes_of(descriptor);
  if (!is_one_image(operands.back())) return add(graph, code, operands, attributes, name);
  for (ir::Value& v : operands) v = value_of(add(graph, OpCode::expand_dims, {v}, kBatchAxis, nil));
  return add(graph, OpCode::squeeze, {value_of(add(graph, code, operands, attributes, nil))}, kBatchAxis, name);
}

// A pooling over the last four axes: an op or a composite.
template <class Code>
MPSGraphTensor* pool(MPSGraph* graph, Code code, const std::vector<ir::Value>& operands,
                     MPSGraphPooling4DOpDescriptor* descriptor, NSString* name) {
  return add(graph, code, operands, attributes_of(descriptor), name);
}

}  // namespace

// The methods of one pooling and its gradient.
#define POOLING(selector, gradient, Descriptor, op)                                                               \
  METHOD(MPSGraphTensor*, takes(selector), takes(descriptor, Descriptor*), takes(name)) {                         \
    return pool(self, op, {value_of(self, selector)}, descriptor, name);                                          \
  }                                                                                                               \
  METHOD(MPSGraphTensor*, takes(gradient), takes(sourceTensor), takes(descriptor, Descriptor*), takes(name)) {    \
    return pool(self, op##_gradient, {value_of(self, gradient), value_of(self, sourceTensor)}, descriptor, name); \
  }

@implementation MPSGraph (MPSGraphPoolingOps)

POOLING(maxPooling2DWithSourceTensor, maxPooling2DGradientWithGradientTensor, MPSGraphPooling2DOpDescriptor,
        OpCode::max_pool2d)
POOLING(avgPooling2DWithSourceTensor, avgPooling2DGradientWithGradientTensor, MPSGraphPooling2DOpDescriptor,
        OpCode::avg_pool2d)
POOLING(maxPooling4DWithSourceTensor, maxPooling4DGradientWithGradientTensor, MPSGraphPooling4DOpDescriptor,
        OpCode::max_pool4d)
POOLING(avgPooling4DWithSourceTensor, avgPooling4DGradientWithGradientTensor, MPSGraphPooling4DOpDescriptor,
        OpCode::avg_pool4d)
POOLING(L2NormPooling4DWithSourceTensor, L2NormPooling4DGradientWithGradientTensor, MPSGraphPooling4DOpDescriptor,
        Composite::l2_pool4d)

- (NSArray<MPSGraphTensor*>*)maxPooling2DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  return pool_with_indices(self, value_of(self, source), indexed_attributes(descriptor), true, name);
}

OUTPUT_SHAPE_SELECTORS(maxPooling2DGradientWithGradientTensor, indicesTensor, descriptor, MPSGraphPooling2DOpDescriptor,
                       gradient_from_indices)

- (NSArray<MPSGraphTensor*>*)maxPooling4DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  return pool_with_indices(self, value_of(self, source), indexed_attributes(descriptor), false, name);
}

OUTPUT_SHAPE_SELECTORS(maxPooling4DGradientWithGradientTensor, indicesTensor, descriptor, MPSGraphPooling4DOpDescriptor,
                       gradient_from_indices)

@end
