// From ir to MPSGraph selectors: a walk over the ops of a step, each lowered by the function of its row
// (lowering/ops.h). Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "engine/graph.h"
#import "engine/lowering/workarounds.h"

namespace alloy::engine {

// Adds the ops of a specialised graph to the framework's graph that belongs to the user's graph. All types are static,
// or those of ops that are lowered without (require_open).
class Lowering {
 public:
  explicit Lowering(Graph& owner);

  // Lowers the feeds, in their order, then everything the body of `graph` needs, except the assignments that nothing in
  // it waits for; lower_assignments adds those afterwards. After an assignment, Apple's framework lets readers see the
  // new value, ours the value from before the run. So all readers come first.
  void lower(const ir::Graph& graph, const std::vector<ir::Value>& feeds);
  void lower_assignments();
  // In a block that the framework calls for region `k` of an op, which has no effects: adds its ops, and returns what
  // stands for its results.
  std::vector<MPSGraphTensor*> lower_region(const ir::Op& op, size_t k, const std::vector<MPSGraphTensor*>& arguments);
  // After that, the tensor of a value and the operation of an effect. They belong to the framework's graph.
  MPSGraphTensor* tensor(ir::Value value) const { return tensors_.at(value); }
  MPSGraphOperation* operation(const ir::Op* op) const { return operations_.at(op); }

  // What the lowering of an op asks for: where to add, what stands for an operand, what the system cannot do.
  Graph& owner() const { return owner_; }
  MPSGraph* graph() const { return graph_; }
  MPSGraphTensor* x(const ir::Op& op, size_t i = 0) const { return tensors_.at(op.operands[i]); }
  Shaped shaped_x(const ir::Op& op, size_t i = 0) const { return {x(op, i), op.operands[i].shape().dims()}; }
  bool has(ir::Quirk quirk) const { return ir::has(system_, quirk); }
  // True if anything is made of a value.
  bool is_used(ir::Value value) const { return used_.contains(value); }
  // True if ops go to a region now: what is made there cannot be seen elsewhere.
  bool is_in_region() const { return depth_ > 0; }

 private:
  void note_uses(const ir::Block& block);
  void lower(const ir::Op& op);
  void lower_now(const ir::Op& op);

  Graph& owner_;
  MPSGraph* graph_;  // the framework's
  ir::System system_;
  int depth_ = 0;  // of regions
  std::unordered_set<ir::Value, ir::ValueHash> used_;
  std::vector<const ir::Op*> assignments_;  // not added yet
  ir::ValueMap<MPSGraphTensor*> tensors_;
  std::map<const ir::Op*, MPSGraphOperation*> operations_;
};

}  // namespace alloy::engine
