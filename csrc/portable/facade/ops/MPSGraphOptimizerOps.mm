// Steps of optimizers.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

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

- (NSArray<MPSGraphTensor*>*)adamWithLearningRateTensor:(MPSGraphTensor*)rate
                                            beta1Tensor:(MPSGraphTensor*)beta1
                                            beta2Tensor:(MPSGraphTensor*)beta2
                                          epsilonTensor:(MPSGraphTensor*)epsilon
                                       beta1PowerTensor:(MPSGraphTensor*)beta1Power
                                       beta2PowerTensor:(MPSGraphTensor*)beta2Power
                                           valuesTensor:(MPSGraphTensor*)values
                                         momentumTensor:(MPSGraphTensor*)momentum
                                         velocityTensor:(MPSGraphTensor*)velocity
                                  maximumVelocityTensor:(MPSGraphTensor*)maximumVelocity
                                         gradientTensor:(MPSGraphTensor*)gradient
                                                   name:(NSString*)name {
  const ir::Expr lr = expr_of(self, rate), power1 = expr_of(self, beta1Power), power2 = expr_of(self, beta2Power);
  MPSGraphTensor* corrected = compose(self, nil, [&] {
    return ir::rounded_once(
        [](ir::Expr lr, ir::Expr power1, ir::Expr power2) { return lr * ir::sqrt(1.0 - power2) / (1.0 - power1); }, lr,
        power1, power2);
  });
  return [self adamWithCurrentLearningRateTensor:corrected
                                     beta1Tensor:beta1
                                     beta2Tensor:beta2
                                   epsilonTensor:epsilon
                                    valuesTensor:values
                                  momentumTensor:momentum
                                  velocityTensor:velocity
                           maximumVelocityTensor:maximumVelocity
                                  gradientTensor:gradient
                                            name:name];
}

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
