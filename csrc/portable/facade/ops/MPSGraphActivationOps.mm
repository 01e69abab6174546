// Activations. The selectors of table rows come from ops.def.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphActivationOps)

#define ALLOY_ACTIVATION(op, stem, ...)                                         \
  METHOD(MPSGraphTensor*, takes(stem##WithTensor), takes(name)) {               \
    return add(self, OpCode::op, {value_of(self, stem##WithTensor)}, {}, name); \
  }
#define ALLOY_ACTIVATION_GRADIENT(op, stem, ...)                                                                 \
  METHOD(MPSGraphTensor*, takes(stem##WithIncomingGradient), takes(sourceTensor), takes(name)) {                 \
    return add(self, OpCode::op, {value_of(self, stem##WithIncomingGradient), value_of(self, sourceTensor)}, {}, \
               name);                                                                                            \
  }
#include "ir/ops.def"

FORWARD(MPSGraphTensor*, passes(leakyReLUWithTensor), takes(alpha, double),
        sends(alphaTensor, [self constantWithScalar:alpha
                                           dataType:data_type_of(value_of(self, leakyReLUWithTensor).dtype())]),
        passes(name))

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
