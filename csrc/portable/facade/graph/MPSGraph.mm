// Graphs: the objects that own tensors, operations and variables.

#include "facade/graph/graph.h"
#include "facade/imitation.h"
#include "facade/metal/metal.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSGraph

+ (instancetype)new {
  return [[self alloc] init];
}

- (instancetype)init {
  self = [super init];
  if (self == nil) return nil;
  refuse_unknown_imitation();
  auto graph = std::make_shared<FacadeGraph>(device_of(default_device()));
  graph->owner = self;
  _impl = new GraphRef(std::move(graph));
  return self;
}

- (void)dealloc {
  if (_impl != nullptr) {
    auto* graph = static_cast<GraphRef*>(_impl);
    (*graph)->owner = nil;
    // Tensors and operations own the graph's C++ part, which owns them; this breaks the cycle.
    auto tensors = std::move((*graph)->tensors);
    auto operations = std::move((*graph)->operations);
    for (auto& [value, tensor] : tensors) [tensor release];
    for (auto& [op, operation] : operations) [operation release];
    delete graph;
  }
  [super dealloc];
}

- (MPSGraphOptions)options {
  return graph_of(self)->options;
}

- (void)setOptions:(MPSGraphOptions)options {
  graph_of(self)->options = options;
}

- (NSArray<MPSGraphTensor*>*)placeholderTensors {
  NSMutableArray* tensors = [NSMutableArray array];
  for (MPSGraphTensor* tensor : graph_of(self)->placeholders) [tensors addObject:tensor];
  return tensors;
}

@end

namespace alloy::facade {

const GraphRef& graph_of(MPSGraph* graph) {
  if (graph == nil) raise_invalid(@"[MPSGraph] A graph was expected, got nil.");
  return *static_cast<GraphRef*>(graph->_impl);
}

}  // namespace alloy::facade
