// Placeholders, constants and variables.

#import "engine/lowering/state.h"

#import "engine/graph_impl.h"
#import "engine/lowering/ops.h"
#include "engine/stats.h"

namespace alloy::engine {
namespace {

using ir::Attr;

MPSGraphTensor* made_constant(MPSGraph* graph, const ir::Literal& literal) {
  const ir::Type& type = literal.type();
  // A scalar constant is passed as a double, which cannot hold every int64 above 2^53, and Apple stores true as 255; so
  // both are passed as bytes. A constant of shape (1) is passed as bytes, too: for a scalar, Apple's header says that
  // this shape means an inferred one (MPSGraphMemoryOps.h).
  const bool is_one = type.shape.rank() > 0 && type.shape.element_count() == 1;
  const bool by_bytes = !literal.is_splat() || is_one || type.dtype == ir::DType::boolean || size_of(type.dtype) == 8;
  if (!by_bytes) {
    return [graph constantWithScalar:literal.at(0) shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  }
  const size_t bytes = literal.is_splat() ? size_of(type.dtype) : literal.bytes().size();
  NSData* data = [NSData dataWithBytes:literal.bytes().data() length:bytes];
  if (is_one || (!literal.is_splat() && type.shape.rank() > 0)) {
    return [graph constantWithData:data shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  }
  // Apple's framework refuses an empty shape here.
  MPSGraphTensor* one = [graph constantWithData:data shape:mps_numbers({1}) dataType:mps_type(type.dtype)];
  if (type.shape.rank() > 0) return [graph broadcastTensor:one toShape:mps_shape(type.shape) name:nil];
  return [graph reshapeTensor:one withShape:mps_numbers({}) name:nil];
}

}  // namespace

MPSGraphTensor* zeros(const Lowering& lowering, const ir::Type& type) {
  return made_constant(lowering.graph(), *ir::Literal::splat(type, 0));
}

MPSGraphTensor* variable_tensor(Graph& owner, const ir::Op& variable) {
  Graph::Impl& own = owner.impl();
  VariableTensors& variables = own.framework->variables;
  const int64_t slot = variable.attributes.integer(Attr::kSlot);
  if (const auto known = variables.find(slot); known != variables.end()) return known->second;
  MPSGraph* graph = own.framework->graph.get();
  const ir::Type& type = variable.results[0];
  NSString* name = mps_name(variable.name);
  MPSGraphTensor* tensor = nil;
  if (owner.storage() == VariableStorage::kBuffers) {
    own.buffers_of(slot);
    tensor = [graph placeholderWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
  } else {
    const auto data = Ref<NSMutableData*>::adopt([[NSMutableData alloc] initWithLength:type.byte_count()]);
    owner.initial_value(slot)->fill(static_cast<std::byte*>([data.get() mutableBytes]));
    tensor = [graph variableWithData:data.get() shape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
    counters().bytes_to_device += type.byte_count();
    owner.forget_initial(slot);
  }
  variables.emplace(slot, tensor);
  return tensor;
}

Nodes lower_placeholder(Lowering& lowering, const ir::Op& op, NSString* name) {
  const ir::Type& type = op.results[0];
  return [lowering.graph() placeholderWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
}

Nodes lower_constant(Lowering& lowering, const ir::Op& op, NSString*) {
  ConstantTensors& constants = lowering.owner().impl().framework->constants;
  const auto& literal = op.attributes.get<ir::LiteralRef>(Attr::kValue);
  if (const auto known = constants.find(literal); known != constants.end()) return known->second;
  MPSGraphTensor* tensor = made_constant(lowering.graph(), *literal);
  if (!lowering.is_in_region()) constants.emplace(literal, tensor);
  return tensor;
}

Nodes lower_empty(Lowering& lowering, const ir::Op& op, NSString*) { return zeros(lowering, op.results[0]); }
Nodes lower_shaped(Lowering& lowering, const ir::Op& op, NSString*) {
  if (op.results[0].is_static()) return zeros(lowering, op.results[0]);
  return [lowering.graph() broadcastTensor:zeros(lowering, {op.results[0].dtype, {}})
                             toShapeTensor:lowering.x(op)
                                      name:nil];
}

Nodes lower_variable(Lowering& lowering, const ir::Op& op, NSString*) { return variable_tensor(lowering.owner(), op); }

Nodes lower_read_variable(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() readVariable:variable_tensor(lowering.owner(), *op.operands[0].op) name:name];
}

Nodes lower_assign(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() assignVariable:variable_tensor(lowering.owner(), *op.operands[0].op)
                        withValueOfTensor:lowering.x(op, 1)
                                     name:name];
}

}  // namespace alloy::engine
