// Control dependencies and conditionals.

#include <algorithm>

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::OpCode;

namespace {

// What a block of the user builds as a region. A block that raises leaves no region open.
std::unique_ptr<ir::Block> region_of(MPSGraph* graph, MPSGraphIfThenElseBlock block) {
  ir::Graph& building = graph_of(graph)->graph;
  building.open_region();
  std::vector<ir::Value> results;
  if (block != nil) {
    bool built = false;
    @try {
      results = values_of(graph, block());
      built = true;
    } @finally {
      if (!built) building.close_region({});
    }
  }
  std::unique_ptr<ir::Block> region;
  build([&] { region = building.close_region(std::move(results)); });
  return region;
}

}  // namespace

@implementation MPSGraph (MPSGraphControlFlowOps)

- (NSArray<MPSGraphTensor*>*)controlDependencyWithOperations:(NSArray<MPSGraphOperation*>*)operations
                                              dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
                                                        name:(NSString*)name {
  if (dependentBlock == nil) raise_invalid(@"[controlDependency] A block was expected, got nil.");
  std::vector<ir::Op*>& after = graph_of(self)->graph.after;
  const std::vector<ir::Op*> outer = after;
  NSMutableArray<MPSGraphTensor*>* results = [NSMutableArray array];
  @try {
    for (MPSGraphOperation* operation in operations) after.push_back(op_of(self, operation));
    for (MPSGraphTensor* tensor in dependentBlock()) {
      // What was made outside the block is forwarded too, so that an op that uses the result needs the operations.
      const std::vector<ir::Op*>& own = value_of(self, tensor).op->after;
      const bool depends = std::all_of(after.begin(), after.end(),
                                       [&](ir::Op* op) { return std::count(own.begin(), own.end(), op) > 0; });
      [results addObject:depends ? tensor : [self identityWithTensor:tensor name:nil]];
    }
  } @finally {
    after = outer;
  }
  return results;
}

- (NSArray<MPSGraphTensor*>*)ifWithPredicateTensor:(MPSGraphTensor*)predicateTensor
                                         thenBlock:(MPSGraphIfThenElseBlock)thenBlock
                                         elseBlock:(MPSGraphIfThenElseBlock)elseBlock
                                              name:(NSString*)name {
  const ir::Value predicate = value_of(self, predicateTensor);
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(region_of(self, thenBlock));
  regions.push_back(region_of(self, elseBlock));
  return [operation_of(graph_of(self), add_op(self, OpCode::if_else, {predicate}, {}, std::move(regions), name))
      outputTensors];
}

@end
