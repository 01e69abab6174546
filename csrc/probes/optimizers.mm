// Losses and the steps of optimizers.
#include "question.h"

namespace alloy::probes {
namespace {

std::string cross_entropy_shapes() {
  std::vector<std::string> words;
  for (const auto reduction :
       {MPSGraphLossReductionTypeAxis, MPSGraphLossReductionTypeSum, MPSGraphLossReductionTypeMean}) {
    Question q;
    MPSGraphTensor* loss =
        [q.graph softMaxCrossEntropyWithSourceTensor:q.feed(std::vector<float>(6), {2, 3})
                                        labelsTensor:q.feed(std::vector<float>{1, 0, 0, 0, 1, 0}, {2, 3})
                                                axis:1
                                       reductionType:reduction
                                                name:nil];
    words.push_back(q.shaped(loss));
  }
  return join(words);
}

std::string adam() {
  Question q;
  const auto rate = [&](float value) { return q.feed(std::vector<float>{value}, {1}); };
  NSArray* results = [q.graph adamWithCurrentLearningRateTensor:rate(0.5f)
                                                    beta1Tensor:rate(0.5f)
                                                    beta2Tensor:rate(0.75f)
                                                  epsilonTensor:rate(0.5f)
                                                   valuesTensor:q.feed(std::vector<float>{4, 4}, {2})
                                                 momentumTensor:q.feed(std::vector<float>{1, 1}, {2})
                                                 velocityTensor:q.feed(std::vector<float>{0, 0}, {2})
                                          maximumVelocityTensor:nil
                                                 gradientTensor:q.feed(std::vector<float>{2, -2}, {2})
                                                           name:nil];
  return q.values({[results objectAtIndex:0], [results objectAtIndex:1], [results objectAtIndex:2]});
}

std::string scalar_sgd() {
  Question q;
  return q.shaped([q.graph stochasticGradientDescentWithLearningRateTensor:q.feed(std::vector<float>{0.5f}, {1})
                                                              valuesTensor:q.feed(std::vector<float>{3}, {})
                                                            gradientTensor:q.feed(std::vector<float>{2}, {})
                                                                      name:nil]);
}

constexpr Probe kOptimizersRows[] = {
    {"cross_entropy_shapes", "the shapes of a loss: kept, summed, averaged", nullptr, 0,
     "documented nowhere; the engine reshapes", nullptr, cross_entropy_shapes},
    {"adam", "Adam's results: value, momentum, velocity", "3.5 4.16666667 1.5 -0.5 1 1", 1e-5,
     "the formula of Apple's header", nullptr, adam},
    {"scalar_sgd", "a scalar keeps its shape in a step of SGD", "() 2", 0, "the op's definition", "optimizer_of_scalar",
     scalar_sgd, "(1) 2"},
};

}  // namespace

const std::span<const Probe> kOptimizers = kOptimizersRows;

}  // namespace alloy::probes
