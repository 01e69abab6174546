// Tensors: handles on values of the ir, one object each, owned by their graph.

#include "facade/GraphPrivate.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

struct TensorImpl {
  std::shared_ptr<FacadeGraph> graph;
  ir::Value value;
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

namespace alloy::facade {

MPSGraphTensor* new_tensor(const std::shared_ptr<FacadeGraph>& graph, ir::Value value) {
  MPSGraphTensor* tensor = [MPSGraphTensor alloc];
  tensor->_impl = new TensorImpl{graph, value};
  return tensor;
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

}  // namespace alloy::facade
