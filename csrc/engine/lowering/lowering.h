// From ir to MPSGraph: visits the ops of a step and lowers each by the function of its row (lowering/ops.h). Private to
// the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "engine/graph.h"
#import "engine/lowering/workarounds.h"

namespace alloy::engine {

// Adds the ops of a specialised graph to the framework's graph that belongs to the user's graph. All types are static,
// except on ops that can be lowered with open shapes (require_open).
class Lowering {
 public:
  explicit Lowering(Graph& owner);

  // Lowers the feeds in order, then all ops that the body of `graph` needs, except assignments that nothing in it waits
  // for; lower_assignments adds these afterwards. A read after an assignment gives the new value in Apple's framework,
  // but the value from before the run in ours, so all reads are added first.
  void lower(const ir::Graph& graph, const std::vector<ir::Value>& feeds);
  void lower_assignments();
  // Called in the block of region `k` of an op, which has no effects. Adds the region's ops and returns the tensors of
  // its results.
  std::vector<MPSGraphTensor*> lower_region(const ir::Op& op, size_t k, const std::vector<MPSGraphTensor*>& arguments);
  // The tensor of a lowered value and the operation of a lowered effect. They belong to the framework's graph.
  MPSGraphTensor* tensor(ir::Value value) const { return tensors_.at(value); }
  MPSGraphOperation* operation(const ir::Op* op) const { return operations_.at(op); }

  // For the functions that lower an op: the graphs, the operands' tensors, the quirks of the system.
  Graph& owner() const { return owner_; }
  MPSGraph* graph() const { return graph_; }
  MPSGraphTensor* x(const ir::Op& op, size_t i = 0) const { return tensors_.at(op.operands[i]); }
  Shaped shaped_x(const ir::Op& op, size_t i = 0) const { return {x(op, i), op.operands[i].shape().dims()}; }
  bool has(ir::Quirk quirk) const { return ir::has(system_, quirk); }
  // True if an op uses the value.
  bool is_used(ir::Value value) const { return used_.contains(value); }
  // True while ops are added to a region; tensors made there cannot be used elsewhere.
  bool is_in_region() const { return depth_ > 0; }

 private:
  void note_uses(const ir::Block& block);
  void lower(const ir::Op& op);
  void lower_now(const ir::Op& op);

  Graph& owner_;
  MPSGraph* graph_;  // the framework's graph
  ir::System system_;
  int depth_ = 0;  // number of regions around the current op
  std::unordered_set<ir::Value, ir::ValueHash> used_;
  std::vector<const ir::Op*> assignments_;  // not added yet
  ir::ValueMap<MPSGraphTensor*> tensors_;
  std::map<const ir::Op*, MPSGraphOperation*> operations_;
};

}  // namespace alloy::engine
