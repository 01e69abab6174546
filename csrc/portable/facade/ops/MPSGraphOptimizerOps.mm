// Optimizer steps.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

// The learning rate with Adam's bias correction, since the moments begin as zeros.
MPSGraphTensor* corrected_rate(MPSGraph* graph, MPSGraphTensor* rate, MPSGraphTensor* beta1_power,
                               MPSGraphTensor* beta2_power) {
  const ir::Expr lr = expr_of(graph, rate), power1 = expr_of(graph, beta1_power), power2 = expr_of(graph, beta2_power);
  const auto work = [](ir::Expr lr, ir::Expr power1, ir::Expr power2) {
    return lr * ir::sqrt(1.0 - power2) / (1.0 - power1);
  };
  return compose(graph, nil, [&] { return ir::rounded_once(work, lr, power1, power2); });
}

}  // namespace

@implementation MPSGraph (MPSGraphOptimizerOps)

- (MPSGraphTensor*)stochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)rate
                                                      valuesTensor:(MPSGraphTensor*)values
                                                    gradientTensor:(MPSGraphTensor*)gradient
                                                              name:(NSString*)name {
  return add(self, OpCode::sgd, {value_of(self, rate), value_of(self, values), value_of(self, gradient)}, {}, name);
}

- (MPSGraphOperation*)applyStochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)rate
                                                                  variable:(MPSGraphVariableOp*)variable
                                                            gradientTensor:(MPSGraphTensor*)gradient
                                                                      name:(NSString*)name {
  MPSGraphTensor* values = tensor_of(graph_of(self), {op_of(self, variable), 0});
  MPSGraphTensor* updated = [self stochasticGradientDescentWithLearningRateTensor:rate
                                                                     valuesTensor:values
                                                                   gradientTensor:gradient
                                                                             name:nil];
  return [self assignVariable:values withValueOfTensor:updated name:name];
}

FORWARD(NSArray<MPSGraphTensor*>*, takes(adamWithLearningRateTensor),
        sends(adamWithCurrentLearningRateTensor,
              corrected_rate(self, adamWithLearningRateTensor, beta1PowerTensor, beta2PowerTensor)),
        passes(beta1Tensor), passes(beta2Tensor), passes(epsilonTensor), takes(beta1PowerTensor),
        takes(beta2PowerTensor), passes(valuesTensor), passes(momentumTensor), passes(velocityTensor),
        passes(maximumVelocityTensor), passes(gradientTensor), passes(name))

- (NSArray<MPSGraphTensor*>*)adamWithCurrentLearningRateTensor:(MPSGraphTensor*)rate
                                                   beta1Tensor:(MPSGraphTensor*)beta1
                                                   beta2Tensor:(MPSGraphTensor*)beta2
                                                 epsilonTensor:(MPSGraphTensor*)epsilon
                                                  valuesTensor:(MPSGraphTensor*)values
                                                momentumTensor:(MPSGraphTensor*)momentum
                                                velocityTensor:(MPSGraphTensor*)velocity
                                         maximumVelocityTensor:(MPSGraphTensor*)maximumVelocity
                                                gradientTensor:(MPSGraphTensor*)gradient
                                                          name:(NSString*)name {
  std::vector<ir::Value> operands;
  for (MPSGraphTensor* tensor : {rate, beta1, beta2, epsilon, values, momentum, velocity}) {
    operands.push_back(value_of(self, tensor));
  }
  if (maximumVelocity != nil) operands.push_back(value_of(self, maximumVelocity));
  operands.push_back(value_of(self, gradient));
  return [operation_of(graph_of(self), add_op(self, OpCode::adam, operands, {}, name)) outputTensors];
}

@end
