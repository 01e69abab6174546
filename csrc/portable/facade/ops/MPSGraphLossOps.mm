// Losses.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

std::string word_of(MPSGraphLossReductionType type) {
  if (type > MPSGraphLossReductionTypeMean) {
    raise_invalid(@"[softMaxCrossEntropy] The reduction type %d is unknown.", static_cast<int>(type));
  }
  return type == MPSGraphLossReductionTypeSum ? "sum" : type == MPSGraphLossReductionTypeMean ? "mean" : "none";
}

}  // namespace

@implementation MPSGraph (MPSGraphLossOps)

- (MPSGraphTensor*)softMaxCrossEntropyWithSourceTensor:(MPSGraphTensor*)source
                                          labelsTensor:(MPSGraphTensor*)labels
                                                  axis:(NSInteger)axis
                                         reductionType:(MPSGraphLossReductionType)reductionType
                                                  name:(NSString*)name {
  return add(self, OpCode::softmax_cross_entropy, {value_of(self, source), value_of(self, labels)},
             {{Attr::kAxis, int64_t{axis}}, {Attr::kReduction, word_of(reductionType)}}, name);
}

- (MPSGraphTensor*)softMaxCrossEntropyGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                            sourceTensor:(MPSGraphTensor*)source
                                                            labelsTensor:(MPSGraphTensor*)labels
                                                                    axis:(NSInteger)axis
                                                           reductionType:(MPSGraphLossReductionType)reductionType
                                                                    name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), l = expr_of(self, labels);
  const std::string reduction = word_of(reductionType);
  const auto work = [&](ir::Expr g, ir::Expr x, ir::Expr l) {
    return ir::softmax_cross_entropy_gradient(g, x, l, axis, reduction);
  };
  return compose(self, name, [&] { return ir::rounded_once(work, g, x, l); });
}

@end
