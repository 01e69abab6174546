// Gradients.

#include "facade/graph/build.h"
#include "ir/transform/gradients.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

@implementation MPSGraph (MPSGraphGradientOps)

- (NSDictionary<MPSGraphTensor*, MPSGraphTensor*>*)gradientForPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                                                withTensors:(NSArray<MPSGraphTensor*>*)tensors
                                                                       name:(NSString*)name {
  const ir::Value primary = value_of(self, primaryTensor);
  const std::vector<ir::Value> targets = values_of(self, tensors);
  require_kind_or_nil(name, [NSString class]);
  const GraphRef& graph = graph_of(self);
  graph->graph.name.clear();
  std::vector<ir::Value> found;
  build([&] { found = ir::gradients(graph->graph, primary, targets); });
  NSMutableDictionary* gradients = [NSMutableDictionary dictionary];
  for (size_t i = 0; i < targets.size(); ++i) {
    MPSGraphTensor* target = tensor_of(graph, targets[i]);
    if (!found[i]) {
      raise_invalid(@"[gradientForPrimaryTensor] The primary tensor does not depend on the tensor of operation %@.",
                    [[target operation] name]);
    }
    [gradients setObject:tensor_of(graph, found[i]) forKey:target];
  }
  return gradients;
}

@end
