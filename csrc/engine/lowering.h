// From ir to MPSGraph selectors. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <map>
#include <vector>

#include "engine/graph.h"
#import "engine/ref.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype);
MPSShape* mps_shape(const ir::Shape& shape);

// What stands for the variables in a framework graph, by slot: made when first needed, then the same for every executable.
using VariableTensors = std::map<int64_t, MPSGraphTensor*>;

// Adds the ops of a specialised graph (static types throughout) to a framework graph.
class Lowering {
 public:
  Lowering(MPSGraph* graph, Storage storage, VariableTensors& variables) : graph_(graph), storage_(storage), variables_(variables) {}

  // The tensor of a variable; what it begins with is read when the tensor is made.
  MPSGraphTensor* variable(const ir::Op& op);
  // Lowers everything the body of `graph` needs.
  void lower(const ir::Graph& graph);
  // What stands for a value or an effect after that. Tensors belong to the framework graph.
  MPSGraphTensor* tensor(ir::Value value) const { return tensors_.at(value); }
  MPSGraphOperation* operation(const ir::Op* op) const { return operations_.at(op); }

 private:
  void lower(const ir::Op& op);
  void lower_now(const ir::Op& op);
  MPSGraphTensor* result(const ir::Op& op, NSString* name);
  MPSGraphTensor* matrix(const ir::Op& op, size_t i, ir::Attr transposes);  // an operand of a matrix product, the way it enters
  MPSGraphTensor* x(const ir::Op& op, size_t i = 0) const { return tensors_.at(op.operands[i]); }

  MPSGraph* graph_;
  Storage storage_;
  VariableTensors& variables_;
  ir::ValueMap<MPSGraphTensor*> tensors_;
  std::map<const ir::Op*, MPSGraphOperation*> operations_;
};

}  // namespace alloy::engine
