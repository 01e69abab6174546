// Reductions along axes.
#include <limits>

#include "question.h"

namespace alloy::probes {
namespace {

std::string no_axes() {
  Question q;
  return q.shaped([q.graph reductionSumWithTensor:q.feed(std::vector<float>{1, 2}, {2}) axes:[NSArray array] name:nil]);
}

std::string rank5_sum() {
  Question q;
  MPSGraphTensor* x = q.feed({2, 2, 1, 2, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph reductionSumWithTensor:x axes:numbers({0}) name:nil]);
}

std::string argmax() {
  Question q;
  return q.values({[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, 5, 2, 7, 3, 6}, {2, 3})
                                                     axis:1
                                                     name:nil]});
}

std::string argmax_of_nan_and_ties() {
  Question q;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return q.values(
      {[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, nan, 2, 3, 1, 3, nan, nan, nan}, {3, 3})
                                         axis:1
                                         name:nil]});
}

std::string normalization_gradients() {
  Question q;
  MPSGraphTensor *dy = q.feed(std::vector<float>{1, -1, 2, 0.5f, -0.5f, 3}, {3, 2}),
                 *x = q.feed(std::vector<float>{1, 5, 2, 3, 6, -2}, {3, 2}),
                 *scale = q.feed(std::vector<float>{2, 0.5f}, {1, 2});
  NSArray* const axes = numbers({0});
  MPSGraphTensor *mean = [q.graph meanOfTensor:x axes:axes name:nil], *variance = [q.graph varianceOfTensor:x
                                                                                                 meanTensor:mean
                                                                                                       axes:axes
                                                                                                       name:nil];
  MPSGraphTensor* gamma = [q.graph normalizationGammaGradientWithIncomingGradientTensor:dy
                                                                           sourceTensor:x
                                                                             meanTensor:mean
                                                                         varianceTensor:variance
                                                                          reductionAxes:axes
                                                                                epsilon:0.25f
                                                                                   name:nil];
  MPSGraphTensor* beta = [q.graph normalizationBetaGradientWithIncomingGradientTensor:dy
                                                                         sourceTensor:x
                                                                        reductionAxes:axes
                                                                                 name:nil];
  MPSGraphTensor* source = [q.graph normalizationGradientWithIncomingGradientTensor:dy
                                                                       sourceTensor:x
                                                                         meanTensor:mean
                                                                     varianceTensor:variance
                                                                        gammaTensor:scale
                                                                gammaGradientTensor:gamma
                                                                 betaGradientTensor:beta
                                                                      reductionAxes:axes
                                                                            epsilon:0.25f
                                                                               name:nil];
  return q.values({gamma, beta, source});
}

constexpr Probe kReductionsRows[] = {
    {"no_axes", "a sum over no axes is what it sums", "(2) 1 2", 0, "arithmetic", "reduction_of_no_axes", no_axes},
    {"rank5_sum", "a sum over the first of 5 axes", "(1,2,1,2,1) 6 8 10 12", 0, "arithmetic", "reduction_beyond_rank4",
     rank5_sum},
    {"argmax", "argmax of rows", "1 0", 0, "arithmetic", nullptr, argmax},
    {"normalization_gradients", "a normalisation's: gamma, beta, source",
     "-2.48043189 -4.85586648 2.5 2.5 -0.522330291 -0.0346884865 0.715974691 0.0349493022 -0.1936444 -0.000260815688",
     1e-5, "the formula, in NumPy; the engine composes it", nullptr, normalization_gradients},
    {"argmax_of_nan_and_ties", "argmax beside NaN, of ties, of NaN alone", nullptr, 0, "documented nowhere", nullptr,
     argmax_of_nan_and_ties},
};

}  // namespace

const std::span<const Probe> kReductions = kReductionsRows;

}  // namespace alloy::probes
