// Tensors: handles to values of the ir; one object for each value, owned by the graph.

#include "facade/errors.h"
#include "facade/graph/graph.h"
#include "facade/graph/types.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

struct TensorImpl {
  GraphRef graph;
  ir::Value value;
};

}  // namespace

@implementation MPSGraphTensor

- (instancetype)init {
  raise_invalid(@"[MPSGraphTensor] Tensors come from a graph, not from init.");
}

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

namespace alloy::facade {

std::vector<ir::Value> values_of(MPSGraph* graph, NSArray<MPSGraphTensor*>* tensors) {
  std::vector<ir::Value> values;
  require_elements(tensors, [MPSGraphTensor class]);
  for (MPSGraphTensor* tensor in tensors) values.push_back(value_of(graph, tensor));
  return values;
}

static MPSGraphTensor* new_tensor(const GraphRef& graph, ir::Value value) {
  MPSGraphTensor* tensor = [MPSGraphTensor alloc];
  tensor->_impl = new TensorImpl{graph, value};
  return tensor;
}

MPSGraphTensor* tensor_of(const GraphRef& graph, ir::Value value) {
  MPSGraphTensor*& tensor = graph->tensors[value];
  // Also autoreleased, because a program may hold it for longer than the graph.
  if (tensor == nil) tensor = [[new_tensor(graph, value) retain] autorelease];
  return tensor;
}

ir::Value value_of(MPSGraphTensor* tensor) {
  static const Class our_class = [MPSGraphTensor class];
  require_kind(tensor, our_class);
  return static_cast<TensorImpl*>(tensor->_impl)->value;
}

ir::Value value_of(MPSGraph* graph, MPSGraphTensor* tensor) {
  const ir::Value value = value_of(tensor);
  if (static_cast<TensorImpl*>(tensor->_impl)->graph != graph_of(graph)) {
    raise_invalid(@"[MPSGraph] The tensor %s belongs to another graph.", to_string(value.type()).c_str());
  }
  return value;
}

}  // namespace alloy::facade
