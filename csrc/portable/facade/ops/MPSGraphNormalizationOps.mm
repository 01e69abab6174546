// Moments and normalisation.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphNormalizationOps)

#define ALLOY_MOMENT(op, stem, ...)                                          \
  METHOD(MPSGraphTensor*, takes(stem##OfTensor), takes(axes), takes(name)) { \
    return add(self, OpCode::op, {value_of(self, stem##OfTensor)},           \
               {{Attr::kAxes, axes_of(self, stem##OfTensor, axes)}}, name);  \
  }
#include "ir/ops.def"

- (MPSGraphTensor*)varianceOfTensor:(MPSGraphTensor*)tensor
                         meanTensor:(MPSGraphTensor*)mean
                               axes:(NSArray<NSNumber*>*)axes
                               name:(NSString*)name {
  const ir::Expr x = expr_of(self, tensor), m = expr_of(self, mean);
  const ir::Dims over = axes_of(self, tensor, axes);
  const auto work = [&](ir::Expr x, ir::Expr m) { return ir::mean(ir::square(x - m), over); };
  return compose(self, name, [&] { return ir::rounded_once(work, x, m); });
}

- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)tensor
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor*)gamma
                                betaTensor:(MPSGraphTensor*)beta
                                   epsilon:(float)epsilon
                                      name:(NSString*)name {
  const ir::Expr x = expr_of(self, tensor), m = expr_of(self, mean), v = expr_of(self, variance);
  const ir::Expr scale = gamma == nil ? ir::none : expr_of(self, gamma),
                 shift = beta == nil ? ir::none : expr_of(self, beta);
  const auto work = [&](ir::Expr x, ir::Expr m, ir::Expr v, ir::Expr scale, ir::Expr shift) {
    ir::Expr y = (x - m) * ir::rsqrt(v + static_cast<double>(epsilon));
    if (scale) y = y * scale;
    return shift ? y + shift : y;
  };
  return compose(self, name, [&] { return ir::rounded_once(work, x, m, v, scale, shift); });
}

- (MPSGraphTensor*)normalizationGammaGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                           sourceTensor:(MPSGraphTensor*)source
                                                             meanTensor:(MPSGraphTensor*)mean
                                                         varianceTensor:(MPSGraphTensor*)variance
                                                          reductionAxes:(NSArray<NSNumber*>*)axes
                                                                epsilon:(float)epsilon
                                                                   name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), m = expr_of(self, mean),
                 v = expr_of(self, variance);
  const ir::Dims over = axes_of(self, source, axes);
  const auto work = [&](ir::Expr g, ir::Expr x, ir::Expr m, ir::Expr v) {
    return ir::sum(g * (x - m) * ir::rsqrt(v + static_cast<double>(epsilon)), over);
  };
  return compose(self, name, [&] { return ir::rounded_once(work, g, x, m, v); });
}

- (MPSGraphTensor*)normalizationBetaGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                          sourceTensor:(MPSGraphTensor*)source
                                                         reductionAxes:(NSArray<NSNumber*>*)axes
                                                                  name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient);
  const ir::Dims over = axes_of(self, source, axes);
  return compose(self, name, [&] { return ir::sum(g, over); });
}

- (MPSGraphTensor*)normalizationGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                      sourceTensor:(MPSGraphTensor*)source
                                                        meanTensor:(MPSGraphTensor*)mean
                                                    varianceTensor:(MPSGraphTensor*)variance
                                                       gammaTensor:(MPSGraphTensor*)gamma
                                               gammaGradientTensor:(MPSGraphTensor*)gammaGradient
                                                betaGradientTensor:(MPSGraphTensor*)betaGradient
                                                     reductionAxes:(NSArray<NSNumber*>*)axes
                                                           epsilon:(float)epsilon
                                                              name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), m = expr_of(self, mean),
                 v = expr_of(self, variance);
  const ir::Expr scale = gamma == nil ? ir::none : expr_of(self, gamma);
  const ir::Expr given_gamma = gammaGradient == nil ? ir::none : expr_of(self, gammaGradient);
  const ir::Expr given_beta = betaGradient == nil ? ir::none : expr_of(self, betaGradient);
  const ir::Dims over = axes_of(self, source, axes);
  const auto work = [&](ir::Expr g, ir::Expr x, ir::Expr m, ir::Expr v, ir::Expr scale, ir::Expr given_gamma,
                        ir::Expr given_beta) {
    const ir::Expr inverse = ir::rsqrt(v + static_cast<double>(epsilon)), xhat = (x - m) * inverse,
                   n = ir::count(x, over);
    const ir::Expr gamma_gradient = given_gamma ? given_gamma : ir::sum(g * xhat, over);
    const ir::Expr beta_gradient = given_beta ? given_beta : ir::sum(g, over);
    const ir::Expr dx = inverse * (g - beta_gradient / n - xhat * gamma_gradient / n);
    return scale ? dx * scale : dx;
  };
  return compose(self, name, [&] { return ir::rounded_once(work, g, x, m, v, scale, given_gamma, given_beta); });
}

@end
