// Activations. The selectors of table rows come from ops.def.

#include "facade/GraphPrivate.h"

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

- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, OpCode::softmax, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);
}

- (MPSGraphTensor*)softMaxGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  axis:(NSInteger)axis
                                                  name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source);
  return compose(self, name, [&] { return ir::softmax_gradient(g, ir::softmax(x, axis), axis); });
}

@end
