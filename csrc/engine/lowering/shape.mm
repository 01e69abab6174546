// Ops that change the shape or order of elements, or join several tensors.

#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

Nodes reshaped(const Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() reshapeTensor:lowering.x(op) withShape:mps_shape(op.results[0].shape) name:name];
}

// The shape of an operand as a tensor, known only in a run.
MPSGraphTensor* shape_tensor(const Lowering& lowering, const ir::Op& op, size_t operand) {
  return [lowering.graph() shapeOfTensor:lowering.x(op, operand) name:nil];
}

Nodes broadcast(const Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() broadcastTensor:lowering.x(op) toShape:mps_shape(op.results[0].shape) name:name];
}

}  // namespace

Nodes lower_reshape(Lowering& lowering, const ir::Op& op, NSString* name) { return reshaped(lowering, op, name); }
Nodes lower_reshape_like(Lowering& lowering, const ir::Op& op, NSString* name) {
  if (op.results[0].is_static()) return reshaped(lowering, op, name);
  return [lowering.graph() reshapeTensor:lowering.x(op) withShapeTensor:shape_tensor(lowering, op, 1) name:name];
}
Nodes lower_squeeze(Lowering& lowering, const ir::Op& op, NSString* name) { return reshaped(lowering, op, name); }
Nodes lower_expand_dims(Lowering& lowering, const ir::Op& op, NSString* name) { return reshaped(lowering, op, name); }

Nodes lower_broadcast_to(Lowering& lowering, const ir::Op& op, NSString* name) { return broadcast(lowering, op, name); }
Nodes lower_broadcast_like(Lowering& lowering, const ir::Op& op, NSString* name) {
  if (op.results[0].is_static()) return broadcast(lowering, op, name);
  return [lowering.graph() broadcastTensor:lowering.x(op) toShapeTensor:shape_tensor(lowering, op, 1) name:name];
}

Nodes lower_transpose(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() transposeTensor:lowering.x(op)
                               permutation:mps_numbers(op.attributes.ints(ir::Attr::kPermutation))
                                      name:name];
}

Nodes lower_concat(Lowering& lowering, const ir::Op& op, NSString* name) {
  NSMutableArray* parts = [NSMutableArray array];
  for (size_t i = 0; i < op.operands.size(); ++i) [parts addObject:lowering.x(op, i)];
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(ir::Attr::kAxis), op.operands[0].shape().rank());
  return [lowering.graph() concatTensors:parts dimension:static_cast<NSInteger>(axis) name:name];
}

Nodes lower_bitcast(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() reinterpretCastTensor:lowering.x(op) toType:mps_type(op.results[0].dtype) name:name];
}

// Pads by concatenation: Apple's padding takes only a number known before a run, and is reported to be wrong for some
// types.
Nodes lower_pad(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  Shaped x = lowering.shaped_x(op);
  const ir::Dims& padding = op.attributes.ints(ir::Attr::kPadding);
  if (!op.results[0].is_static()) {  // Apple's padding needs a known number
    ir::Dims before, after;
    for (int64_t i = 0; i < padding.size(); ++i) (i % 2 == 0 ? before : after).push_back(padding[i]);
    return [graph padTensor:x.tensor
            withPaddingMode:MPSGraphPaddingModeConstant
                leftPadding:mps_numbers(before)
               rightPadding:mps_numbers(after)
              constantValue:op.operands[1].op->attributes.get<ir::LiteralRef>(ir::Attr::kValue)->at(0)
                       name:name];
  }
  const auto filled = [&](int64_t axis, int64_t extent) {
    ir::Dims dims = x.dims;
    dims[axis] = extent;
    return [graph broadcastTensor:lowering.x(op, 1) toShape:mps_numbers(dims) name:nil];
  };
  for (int64_t axis = 0; axis < x.dims.size(); ++axis) {
    const int64_t before = padding[2 * axis], after = padding[2 * axis + 1];
    if (before == 0 && after == 0) continue;
    NSMutableArray* parts = [NSMutableArray array];
    if (before > 0) [parts addObject:filled(axis, before)];
    if (x.dims[axis] > 0) [parts addObject:x.tensor];
    if (after > 0) [parts addObject:filled(axis, after)];
    x.tensor = [graph concatTensors:parts dimension:static_cast<NSInteger>(axis) name:nil];
    x.dims[axis] += before + after;
  }
  return [graph identityWithTensor:x.tensor name:name];
}

Nodes lower_shape_of(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() shapeOfTensor:lowering.x(op) name:name];
}

}  // namespace alloy::engine
