// Activations. The selectors of table rows come from ops.def.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphActivationOps)

#define ALLOY_ACTIVATION(op, stem, ...)                                                 \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {}, name);                   \
  }
#define ALLOY_ACTIVATION_GRADIENT(op, stem, ...)                                                                       \
  -(MPSGraphTensor*)stem##WithIncomingGradient : (MPSGraphTensor*)gradient sourceTensor : (MPSGraphTensor*)source name \
      : (NSString*)name {                                                                                              \
    return add(self, OpCode::op, {value_of(self, gradient), value_of(self, source)}, {}, name);                        \
  }
#include "ir/ops.def"

- (MPSGraphTensor*)leakyReLUWithTensor:(MPSGraphTensor*)tensor alpha:(double)alpha name:(NSString*)name {
  return [self leakyReLUWithTensor:tensor
                       alphaTensor:[self constantWithScalar:alpha dataType:data_type_of(value_of(self, tensor).dtype())]
                              name:name];
}

- (MPSGraphTensor*)leakyReLUWithTensor:(MPSGraphTensor*)tensor alphaTensor:(MPSGraphTensor*)alpha name:(NSString*)name {
  return add(self, ir::Composite::leaky_relu, {value_of(self, tensor), value_of(self, alpha)}, {}, name);
}

- (MPSGraphTensor*)leakyReLUGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                            sourceTensor:(MPSGraphTensor*)source
                                             alphaTensor:(MPSGraphTensor*)alpha
                                                    name:(NSString*)name {
  return add(self, ir::Composite::leaky_relu_gradient,
             {value_of(self, gradient), value_of(self, source), value_of(self, alpha)}, {}, name);
}

- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, OpCode::softmax, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);
}

- (MPSGraphTensor*)softMaxGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  axis:(NSInteger)axis
                                                  name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source);
  const auto work = [&](ir::Expr g, ir::Expr x) { return ir::softmax_gradient(g, ir::softmax(x, axis), axis); };
  return compose(self, name, [&] { return ir::rounded_once(work, g, x); });
}

@end
