// Optimizer steps.

#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

// Gives a new value its shape in ir: coefficients of shape (1,) broadcast, so the framework may give a scalar another
// shape.
MPSGraphTensor* of_own_shape(const Lowering& lowering, const ir::Type& type, MPSGraphTensor* made) {
  if (type.shape.rank() != 0 || !lowering.has(ir::Quirk::optimizer_of_scalar)) return made;
  return [lowering.graph() reshapeTensor:made withShape:@[] name:nil];
}

}  // namespace

Nodes lower_sgd(Lowering& lowering, const ir::Op& op, NSString* name) {
  return of_own_shape(lowering, op.results[0],
                      [lowering.graph() stochasticGradientDescentWithLearningRateTensor:lowering.x(op, 0)
                                                                           valuesTensor:lowering.x(op, 1)
                                                                         gradientTensor:lowering.x(op, 2)
                                                                                   name:name]);
}

Nodes lower_adam(Lowering& lowering, const ir::Op& op, NSString* name) {
  const bool has_maximum = op.operands.size() == 9;
  NSArray* results = [lowering.graph() adamWithCurrentLearningRateTensor:lowering.x(op, 0)
                                                             beta1Tensor:lowering.x(op, 1)
                                                             beta2Tensor:lowering.x(op, 2)
                                                           epsilonTensor:lowering.x(op, 3)
                                                            valuesTensor:lowering.x(op, 4)
                                                          momentumTensor:lowering.x(op, 5)
                                                          velocityTensor:lowering.x(op, 6)
                                                   maximumVelocityTensor:has_maximum ? lowering.x(op, 7) : nil
                                                          gradientTensor:lowering.x(op, op.operands.size() - 1)
                                                                    name:name];
  NSMutableArray<MPSGraphTensor*>* made = [NSMutableArray array];
  for (size_t i = 0; i < op.results.size(); ++i) {
    [made addObject:of_own_shape(lowering, op.results[i], [results objectAtIndex:i])];
  }
  return made;
}

}  // namespace alloy::engine
