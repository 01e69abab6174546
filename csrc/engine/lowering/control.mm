// Conditionals and loops, whose regions are lowered in blocks that the framework calls.

#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

NSArray<MPSGraphTensor*>* array_of(const std::vector<MPSGraphTensor*>& tensors, size_t begin) {
  return [NSArray arrayWithObjects:tensors.data() + begin count:tensors.size() - begin];
}

std::vector<MPSGraphTensor*> vector_of(NSArray<MPSGraphTensor*>* tensors) {
  std::vector<MPSGraphTensor*> out;
  for (MPSGraphTensor* tensor in tensors) out.push_back(tensor);
  return out;
}

NSArray<MPSGraphTensor*>* carried(Lowering& lowering, const ir::Op& op) {
  NSMutableArray<MPSGraphTensor*>* tensors = [NSMutableArray array];
  for (size_t i = op.info().facts.regions.own_operands; i < op.operands.size(); ++i) {
    [tensors addObject:lowering.x(op, i)];
  }
  return tensors;
}

}  // namespace

Nodes lower_stop_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() identityWithTensor:lowering.x(op) name:name];
}

Nodes lower_custom_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  NSMutableArray<MPSGraphTensor*>* tensors = [NSMutableArray array];
  for (size_t i = 0; i < op.results.size(); ++i) {
    [tensors addObject:[lowering.graph() identityWithTensor:lowering.x(op, i) name:name]];
  }
  return tensors;
}

Nodes lower_if_else(Lowering& lowering, const ir::Op& op, NSString* name) {
  Lowering* const l = &lowering;
  const ir::Op* const own = &op;
  return [lowering.graph() ifWithPredicateTensor:lowering.x(op)
      thenBlock:^NSArray<MPSGraphTensor*>* {
        return array_of(l->lower_region(*own, 0, {}), 0);
      }
      elseBlock:^NSArray<MPSGraphTensor*>* {
        return array_of(l->lower_region(*own, 1, {}), 0);
      }
      name:name];
}

Nodes lower_while_loop(Lowering& lowering, const ir::Op& op, NSString* name) {
  Lowering* const l = &lowering;
  const ir::Op* const own = &op;
  return [lowering.graph() whileWithInitialInputs:carried(lowering, op)
      before:^MPSGraphTensor*(NSArray<MPSGraphTensor*>* inputs, NSMutableArray<MPSGraphTensor*>* results) {
        const std::vector<MPSGraphTensor*> made = l->lower_region(*own, 0, vector_of(inputs));
        [results addObjectsFromArray:array_of(made, 1)];
        return made[0];
      }
      after:^NSArray<MPSGraphTensor*>*(NSArray<MPSGraphTensor*>* inputs) {
        return array_of(l->lower_region(*own, 1, vector_of(inputs)), 0);
      }
      name:name];
}

Nodes lower_for_loop(Lowering& lowering, const ir::Op& op, NSString* name) {
  Lowering* const l = &lowering;
  const ir::Op* const own = &op;
  return [lowering.graph()
      forLoopWithLowerBound:lowering.x(op, 0)
                 upperBound:lowering.x(op, 1)
                       step:lowering.x(op, 2)
       initialBodyArguments:carried(lowering, op)
                       body:^NSArray<MPSGraphTensor*>*(MPSGraphTensor* index, NSArray<MPSGraphTensor*>* inputs) {
                         std::vector<MPSGraphTensor*> arguments = vector_of(inputs);
                         arguments.insert(arguments.begin(), index);
                         return array_of(l->lower_region(*own, 0, arguments), 0);
                       }
                       name:name];
}

// These ops are never lowered by themselves: an argument is made with its region, fused ops and gradients of attentions
// only behind the framework, and ops on the host run between two of the framework's graphs.
Nodes lower_argument(Lowering&, const ir::Op& op, NSString*) { op.fail("An argument cannot be lowered"); }
Nodes lower_fused(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }
Nodes lower_scaled_dot_product_attention_gradient(Lowering&, const ir::Op& op, NSString*) {
  op.fail("The op cannot be lowered");
}
Nodes lower_native(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }
Nodes lower_all_reduce(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }

}  // namespace alloy::engine
