// From ir to MPSGraph selectors. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <functional>
#include <map>
#include <vector>

#include "engine/graph.h"
#import "engine/ref.h"
#import "engine/workarounds.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype);
MPSShape* mps_shape(const ir::Shape& shape);

// What stands for the variables in a framework graph, by slot: made when first needed, then the same for every
// executable.
using VariableTensors = std::map<int64_t, MPSGraphTensor*>;
// And for the constants, which it keeps: a constant that several compilations need is there once.
using ConstantTensors = std::map<ir::LiteralRef, MPSGraphTensor*>;

// Adds the ops of a specialised graph (static types throughout) to the framework's graph of the user's.
class Lowering {
 public:
  explicit Lowering(Graph& graph);

  // The tensor of a variable; what it begins with goes to the device when the tensor is made.
  MPSGraphTensor* variable(const ir::Op& op);
  // Lowers everything the body of `graph` needs, but for the assignments that nothing in it waits for: those
  // lower_assignments adds. Apple's framework gives who reads a variable behind an assignment the new value, ours the
  // one from before the run; so every reader comes first.
  void lower(const ir::Graph& graph);
  void lower_assignments();
  // What stands for a value or an effect after that. Tensors belong to the framework graph.
  MPSGraphTensor* tensor(ir::Value value) const { return tensors_.at(value); }
  MPSGraphOperation* operation(const ir::Op* op) const { return operations_.at(op); }

 private:
  // What the framework computes of a tensor along one axis.
  using AlongAxis = std::function<MPSGraphTensor*(MPSGraphTensor* x, NSInteger axis, NSString* name)>;

  void lower(const ir::Op& op);
  void lower_now(const ir::Op& op);
  MPSGraphTensor* result(const ir::Op& op, NSString* name);
  MPSGraphTensor* constant(const ir::Op& op);
  MPSGraphTensor* x(const ir::Op& op, size_t i = 0) const { return tensors_.at(op.operands[i]); }
  bool has(ir::Quirk quirk) const { return ir::has(system_, quirk); }

  Shaped operand(const ir::Op& op, size_t i) const { return {x(op, i), op.operands[i].shape().dims()}; }

  MPSGraphTensor* reduced(const Shaped& x, const ir::Dims& axes, const Reduction& reduction, NSString* name);
  MPSGraphTensor* reduced(const ir::Op& op, const Reduction& reduction, NSString* name);
  MPSGraphTensor* reduce_to(const ir::Op& op, NSString* name);
  MPSGraphTensor* along_axis(const ir::Op& op, const AlongAxis& work, NSString* name);
  MPSGraphTensor* product(const ir::Op& op, NSString* name);
  MPSGraphTensor* convolution_gradient(const ir::Op& op, NSString* name);

  Graph& owner_;
  MPSGraph* graph_;
  ir::System system_;
  std::vector<const ir::Op*> assignments_;  // not added yet
  ir::ValueMap<MPSGraphTensor*> tensors_;
  std::map<const ir::Op*, MPSGraphOperation*> operations_;
};

}  // namespace alloy::engine
