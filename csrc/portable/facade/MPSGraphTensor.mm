// Tensors and operations: handles on values and ops of the ir, one object each, owned by their graph.

#import "GraphPrivate.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

struct TensorImpl {
  std::shared_ptr<FacadeGraph> graph;
  ir::Value value;
};

struct OperationImpl {
  std::shared_ptr<FacadeGraph> graph;
  ir::Op* op;
  size_t result_count;  // as the op was made: its gradient may have a conditional give more
};

}  // namespace

@implementation MPSGraphTensor

- (void)dealloc {
  delete static_cast<TensorImpl*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (MPSShape*)shape {
  return mps_shape_of(static_cast<TensorImpl*>(_impl)->value.shape());
}

- (MPSDataType)dataType {
  return data_type_of(static_cast<TensorImpl*>(_impl)->value.dtype());
}

- (MPSGraphOperation*)operation {
  auto* impl = static_cast<TensorImpl*>(_impl);
  return impl->graph->owner == nil ? nil : operation_of(impl->graph, impl->value.op);
}

- (NSString*)description {
  return [NSString
      stringWithFormat:@"%@ %s", [super description], to_string(static_cast<TensorImpl*>(_impl)->value.type()).c_str()];
}

@end

@implementation MPSGraphOperation

- (void)dealloc {
  delete static_cast<OperationImpl*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (NSArray<MPSGraphTensor*>*)inputTensors {
  auto* impl = static_cast<OperationImpl*>(_impl);
  NSMutableArray* tensors = [NSMutableArray array];
  for (const ir::Value& v : impl->op->operands) [tensors addObject:tensor_of(impl->graph, v)];
  return tensors;
}

- (NSArray<MPSGraphTensor*>*)outputTensors {
  auto* impl = static_cast<OperationImpl*>(_impl);
  NSMutableArray* tensors = [NSMutableArray array];
  for (uint32_t i = 0; i < impl->result_count; ++i) [tensors addObject:tensor_of(impl->graph, {impl->op, i})];
  return tensors;
}

- (NSArray<MPSGraphOperation*>*)controlDependencies {
  auto* impl = static_cast<OperationImpl*>(_impl);
  NSMutableArray* operations = [NSMutableArray array];
  for (ir::Op* before : impl->op->after) [operations addObject:operation_of(impl->graph, before)];
  return operations;
}

- (MPSGraph*)graph {
  return static_cast<OperationImpl*>(_impl)->graph->owner;
}

- (NSString*)name {
  const ir::Op& op = *static_cast<OperationImpl*>(_impl)->op;
  if (!op.name.empty()) return [NSString stringWithUTF8String:op.name.c_str()];
  return [NSString
      stringWithFormat:@"%s_%llu", std::string(op.info().name).c_str(), static_cast<unsigned long long>(op.id)];
}

@end

@implementation MPSGraphVariableOp

- (MPSShape*)shape {
  return mps_shape_of(static_cast<OperationImpl*>(_impl)->op->results[0].shape);
}

- (MPSDataType)dataType {
  return data_type_of(static_cast<OperationImpl*>(_impl)->op->results[0].dtype);
}

@end

namespace alloy::facade {

MPSGraphTensor* new_tensor(const std::shared_ptr<FacadeGraph>& graph, ir::Value value) {
  MPSGraphTensor* tensor = [MPSGraphTensor alloc];
  tensor->_impl = new TensorImpl{graph, value};
  return tensor;
}

MPSGraphOperation* new_operation(const std::shared_ptr<FacadeGraph>& graph, ir::Op* op) {
  MPSGraphOperation* operation =
      op->code == ir::OpCode::variable ? [MPSGraphVariableOp alloc] : [MPSGraphOperation alloc];
  operation->_impl = new OperationImpl{graph, op, op->results.size()};
  return operation;
}

ir::Value value_of(MPSGraphTensor* tensor) {
  if (tensor == nil) raise_invalid(@"[MPSGraph] A tensor was expected, got nil.");
  return static_cast<TensorImpl*>(tensor->_impl)->value;
}

ir::Value value_of(MPSGraph* graph, MPSGraphTensor* tensor) {
  const ir::Value value = value_of(tensor);
  if (static_cast<TensorImpl*>(tensor->_impl)->graph != graph_of(graph)) {
    raise_invalid(@"[MPSGraph] The tensor %s belongs to another graph.", to_string(value.type()).c_str());
  }
  return value;
}

ir::Op* op_of(MPSGraph* graph, MPSGraphOperation* operation) {
  if (operation == nil) raise_invalid(@"[MPSGraph] An operation was expected, got nil.");
  auto* impl = static_cast<OperationImpl*>(operation->_impl);
  if (impl->graph != graph_of(graph)) {
    raise_invalid(@"[MPSGraph] The operation %@ belongs to another graph.", [operation name]);
  }
  return impl->op;
}

}  // namespace alloy::facade
