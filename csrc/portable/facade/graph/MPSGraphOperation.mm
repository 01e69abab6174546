// Operations: handles to ops of the ir; one object for each op, owned by the graph.

#include "facade/errors.h"
#include "facade/graph/graph.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

struct OperationImpl {
  GraphRef graph;
  ir::Op* op;
  size_t result_count;  // when the op was made; gradients may add results to a conditional later
};

}  // namespace

@implementation MPSGraphOperation

- (instancetype)init {
  raise_invalid(@"[MPSGraphOperation] Operations come from a graph, not from init.");
}

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

namespace alloy::facade {

static MPSGraphOperation* new_operation(const GraphRef& graph, ir::Op* op) {
  MPSGraphOperation* operation =
      op->code == ir::OpCode::variable ? [MPSGraphVariableOp alloc] : [MPSGraphOperation alloc];
  operation->_impl = new OperationImpl{graph, op, op->results.size()};
  return operation;
}

MPSGraphOperation* operation_of(const GraphRef& graph, ir::Op* op) {
  MPSGraphOperation*& operation = graph->operations[op];
  if (operation == nil) operation = [[new_operation(graph, op) retain] autorelease];
  return operation;
}

ir::Op* op_of(MPSGraphOperation* operation) {
  static const Class our_class = [MPSGraphOperation class];
  require_kind(operation, our_class);
  return static_cast<OperationImpl*>(operation->_impl)->op;
}

ir::Op* op_of(MPSGraph* graph, MPSGraphOperation* operation) {
  ir::Op* op = op_of(operation);
  if (static_cast<OperationImpl*>(operation->_impl)->graph != graph_of(graph)) {
    raise_invalid(@"[MPSGraph] The operation %@ belongs to another graph.", [operation name]);
  }
  return op;
}

}  // namespace alloy::facade
