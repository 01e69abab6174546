// The C++ parts of graphs, tensors and operations, and functions that find them.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/graph_state.h"

namespace alloy::facade {

// The C++ part of an MPSGraph, shared with its tensors, operations and executables.
struct FacadeGraph : runtime::GraphState {
  using runtime::GraphState::GraphState;
  MPSGraph* owner = nil;                                       // Not retained; nil once the graph is gone.
  ir::ValueMap<MPSGraphTensor*> tensors;                       // Retained while the owner lives.
  std::unordered_map<ir::Op*, MPSGraphOperation*> operations;  // Retained while the owner lives.
  std::atomic<MPSGraphOptions> options{MPSGraphOptionsDefault};
  runtime::RecentPrograms runs;               // Of the graph's own run methods.
  std::vector<MPSGraphTensor*> placeholders;  // In order of creation; not retained.
};

using GraphRef = std::shared_ptr<FacadeGraph>;

// The C++ part of a graph.
const GraphRef& graph_of(MPSGraph* graph);

// The value behind a tensor; raises when it is nil or of another graph.
ir::Value value_of(MPSGraph* graph, MPSGraphTensor* tensor);
std::vector<ir::Value> values_of(MPSGraph* graph, NSArray<MPSGraphTensor*>* tensors);
// The value behind a tensor of any graph.
ir::Value value_of(MPSGraphTensor* tensor);
// The op behind an operation; raises when it is nil or of another graph.
ir::Op* op_of(MPSGraph* graph, MPSGraphOperation* operation);
// The op behind an operation of any graph.
ir::Op* op_of(MPSGraphOperation* operation);

// The tensor of a value, the operation of an op: one object each, owned by the graph.
MPSGraphTensor* tensor_of(const GraphRef& graph, ir::Value value);
MPSGraphOperation* operation_of(const GraphRef& graph, ir::Op* op);

}  // namespace alloy::facade
