// Control dependencies, conditionals and loops.

#include <algorithm>

#include "facade/graph/build.h"
#include "ir/transform/regions.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::OpCode;

namespace {

using Regions = std::vector<std::unique_ptr<ir::Block>>;

// Adds a region with the ops that `contents`, a block of the user, builds from the arguments. If the block raises, no
// region stays open.
void add_region(MPSGraph* graph, Regions& regions, const std::vector<ir::Type>& types,
                std::vector<ir::Value> (^contents)(NSArray<MPSGraphTensor*>* arguments)) {
  const GraphRef& facade = graph_of(graph);
  ir::Graph& building = facade->graph;
  building.name.clear();
  NSMutableArray<MPSGraphTensor*>* arguments = [NSMutableArray array];
  std::vector<ir::Value> results;
  bool built = false;
  const std::vector<ir::Value> values = building.open_region(types);
  @try {
    for (const ir::Value& v : values) [arguments addObject:tensor_of(facade, v)];
    results = contents(arguments);
    built = true;
  } @finally {
    if (!built) building.abandon_region();
  }
  build([&] { regions.push_back(building.close_region(std::move(results))); });
}

void add_branch(MPSGraph* graph, Regions& regions, MPSGraphIfThenElseBlock block) {
  add_region(graph, regions, {}, ^std::vector<ir::Value>(NSArray<MPSGraphTensor*>*) {
    return block == nil ? std::vector<ir::Value>() : values_of(graph, block());
  });
}

// Makes the operation at once, since later gradients may add results that the user does not see.
NSArray<MPSGraphTensor*>* add_with_regions(MPSGraph* graph, OpCode code, const std::vector<ir::Value>& operands,
                                           Regions regions, NSString* name) {
  return [operation_of(graph_of(graph), add_op(graph, code, operands, {}, std::move(regions), name)) outputTensors];
}

}  // namespace

@implementation MPSGraph (MPSGraphControlFlowOps)

- (NSArray<MPSGraphTensor*>*)controlDependencyWithOperations:(NSArray<MPSGraphOperation*>*)operations
                                              dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
                                                        name:(NSString*)name {
  require_block(dependentBlock);
  require_kind_or_nil(name, [NSString class]);
  require_elements(operations, [MPSGraphOperation class]);
  std::vector<ir::Op*>& after = graph_of(self)->graph.after;
  const std::vector<ir::Op*> outer = after;
  NSMutableArray<MPSGraphTensor*>* results = [NSMutableArray array];
  @try {
    for (MPSGraphOperation* operation in operations) after.push_back(op_of(self, operation));
    NSArray<MPSGraphTensor*>* forwarded = dependentBlock();
    require_elements(forwarded, [MPSGraphTensor class]);
    for (MPSGraphTensor* tensor in forwarded) {
      // Values made outside the block are forwarded, too, so that an op that uses the result depends on the operations.
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
  require_block(thenBlock);
  require_block_or_nil(elseBlock);
  const ir::Value predicate = value_of(self, predicateTensor);
  Regions regions;
  add_branch(self, regions, thenBlock);
  add_branch(self, regions, elseBlock);
  return add_with_regions(self, OpCode::if_else, {predicate}, std::move(regions), name);
}

- (NSArray<MPSGraphTensor*>*)whileWithInitialInputs:(NSArray<MPSGraphTensor*>*)initialInputs
                                             before:(MPSGraphWhileBeforeBlock)before
                                              after:(MPSGraphWhileAfterBlock)after
                                               name:(NSString*)name {
  require_block(before);
  require_block(after);
  const std::vector<ir::Value> initial = values_of(self, initialInputs);
  Regions regions;
  add_region(self, regions, ir::argument_types(OpCode::while_loop, initial, regions),
             ^std::vector<ir::Value>(NSArray<MPSGraphTensor*>* arguments) {
               NSMutableArray<MPSGraphTensor*>* passed = [NSMutableArray array];
               std::vector<ir::Value> results = {value_of(self, before(arguments, passed))};
               const std::vector<ir::Value> more = values_of(self, passed);
               results.insert(results.end(), more.begin(), more.end());
               return results;
             });
  add_region(self, regions, ir::argument_types(OpCode::while_loop, initial, regions),
             ^std::vector<ir::Value>(NSArray<MPSGraphTensor*>* arguments) {
               return values_of(self, after(arguments));
             });
  return add_with_regions(self, OpCode::while_loop, initial, std::move(regions), name);
}

- (NSArray<MPSGraphTensor*>*)forLoopWithLowerBound:(MPSGraphTensor*)lowerBound
                                        upperBound:(MPSGraphTensor*)upperBound
                                              step:(MPSGraphTensor*)step
                              initialBodyArguments:(NSArray<MPSGraphTensor*>*)initialBodyArguments
                                              body:(MPSGraphForLoopBodyBlock)body
                                              name:(NSString*)name {
  require_block(body);
  std::vector<ir::Value> operands = {value_of(self, lowerBound), value_of(self, upperBound), value_of(self, step)};
  const std::vector<ir::Value> initial = values_of(self, initialBodyArguments);
  operands.insert(operands.end(), initial.begin(), initial.end());
  Regions regions;
  add_region(self, regions, ir::argument_types(OpCode::for_loop, operands, regions),
             ^std::vector<ir::Value>(NSArray<MPSGraphTensor*>* arguments) {
               NSArray<MPSGraphTensor*>* carried = [arguments subarrayWithRange:NSMakeRange(1, [arguments count] - 1)];
               return values_of(self, body([arguments objectAtIndex:0], carried));
             });
  if (regions[0]->results.size() > initial.size()) {
    raise_invalid(@"[forLoop] The loop begins with %zu tensors and an iteration gives %zu.", initial.size(),
                  regions[0]->results.size());
  }
  return add_with_regions(self, OpCode::for_loop, operands, std::move(regions), name);
}

- (NSArray<MPSGraphTensor*>*)forLoopWithNumberOfIterations:(MPSGraphTensor*)numberOfIterations
                                      initialBodyArguments:(NSArray<MPSGraphTensor*>*)initialBodyArguments
                                                      body:(MPSGraphForLoopBodyBlock)body
                                                      name:(NSString*)name {
  const MPSDataType type = data_type_of(value_of(self, numberOfIterations).dtype());
  return [self forLoopWithLowerBound:[self constantWithScalar:0 dataType:type]
                          upperBound:numberOfIterations
                                step:[self constantWithScalar:1 dataType:type]
                initialBodyArguments:initialBodyArguments
                                body:body
                                name:name];
}

@end
