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
// And for the constants, which it keeps: a constant that several compilations need is there once.
using ConstantTensors = std::map<ir::LiteralRef, MPSGraphTensor*>;

// Adds the ops of a specialised graph (static types throughout) to the framework's graph of the user's.
class Lowering {
 public:
  explicit Lowering(Graph& graph);

  // The tensor of a variable; what it begins with goes to the device when the tensor is made.
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
  MPSGraphTensor* constant(const ir::Op& op);
  MPSGraphTensor* matrix(const ir::Op& op, size_t i, ir::Attr transposes);  // an operand of a matrix product, the way it enters
  MPSGraphTensor* x(const ir::Op& op, size_t i = 0) const { return tensors_.at(op.operands[i]); }

  Graph& owner_;
  MPSGraph* graph_;
  ir::ValueMap<MPSGraphTensor*> tensors_;
  std::map<const ir::Op*, MPSGraphOperation*> operations_;
};

}  // namespace alloy::engine
