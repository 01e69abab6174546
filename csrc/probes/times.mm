// Milliseconds of ways that the engine uses and of alternatives. The results decide nothing here.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "question.h"

namespace alloy::probes {
namespace {

using Clock = std::chrono::steady_clock;

// The time of the fastest run of these targets and operations.
std::string milliseconds(Question& q, MPSGraphTensor* target, NSArray* operations = nil) {
  MPSGraphExecutable* executable = q.compile(list(target), operations);
  const int most = knows_no_limit() ? 2 : 20;
  double least = 1e9;
  for (int i = 0; i < most; ++i) {
    @autoreleasepool {
      const auto start = Clock::now();
      q.run(executable);
      least = std::min(least, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", least);
  return text;
}

// Some of the elements, so that fetching takes no time.
MPSGraphTensor* corner(Question& q, MPSGraphTensor* x) {
  return [q.graph sliceTensor:x dimension:0 start:0 length:1 name:nil];
}

float wave(long i) { return static_cast<float>(i % 17 - 8) / 8; }

// An attention of 4 sequences, 8 heads and 512 positions: made of parts, then by Apple's selector.
std::string attention_times() {
  const Shape shape{4, 8, 512, 64};
  Question q;
  MPSGraphTensor *query = q.feed(shape, wave), *key = q.feed(shape, wave), *value = q.feed(shape, wave);
  MPSGraphTensor* turned = [q.graph transposeTensor:key dimension:2 withDimension:3 name:nil];
  MPSGraphTensor* scores = [q.graph matrixMultiplicationWithPrimaryTensor:query secondaryTensor:turned name:nil];
  MPSGraphTensor* weights = q.identity([q.graph softMaxWithTensor:scores axis:3 name:nil]);
  MPSGraphTensor* composed = [q.graph matrixMultiplicationWithPrimaryTensor:weights secondaryTensor:value name:nil];
  MPSGraphTensor* fused = attention(q, query, key, value, nil, 1);
  return join({"composed", milliseconds(q, corner(q, composed)), "fused",
               fused == nil ? kAbsent : milliseconds(q, corner(q, fused))});
}

// The source's gradient of a batch normalisation of 32 images: composed, then by Apple's selectors.
std::string normalization_times() {
  const Shape shape{32, 28, 28, 64};
  NSArray* const axes = numbers({0, 1, 2});
  const float epsilon = 1e-3f, count = 32 * 28 * 28;
  Question q;
  MPSGraph* g = q.graph;
  MPSGraphTensor *x = q.feed(shape, wave), *dy = q.feed(shape, [](long i) { return wave(i * i); });
  MPSGraphTensor *mean = [g meanOfTensor:x axes:axes name:nil], *variance = [g varianceOfTensor:x
                                                                                     meanTensor:mean
                                                                                           axes:axes
                                                                                           name:nil];
  const auto scalar = [&](float number) { return [g constantWithScalar:number dataType:MPSDataTypeFloat32]; };
  const auto times = [&](MPSGraphTensor* a, MPSGraphTensor* b) {
    return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
  };
  const auto less = [&](MPSGraphTensor* a, MPSGraphTensor* b) {
    return [g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
  };
  const auto sum = [&](MPSGraphTensor* a) { return [g reductionSumWithTensor:a axes:axes name:nil]; };
  MPSGraphTensor* spread =
      [g squareRootWithTensor:[g additionWithPrimaryTensor:variance secondaryTensor:scalar(epsilon) name:nil] name:nil];
  MPSGraphTensor* inverse = [g reciprocalWithTensor:spread name:nil];
  MPSGraphTensor *normal = times(less(x, mean), inverse), *share = scalar(1 / count);
  MPSGraphTensor* composed =
      times(inverse, less(less(dy, times(sum(dy), share)), times(normal, times(sum(times(dy, normal)), share))));
  MPSGraphTensor* whole = [g normalizationGradientWithIncomingGradientTensor:dy
                                                                sourceTensor:x
                                                                  meanTensor:mean
                                                              varianceTensor:variance
                                                                 gammaTensor:nil
                                                         gammaGradientTensor:nil
                                                          betaGradientTensor:nil
                                                               reductionAxes:axes
                                                                     epsilon:epsilon
                                                                        name:nil];
  return join({"composed", milliseconds(q, corner(q, composed)), "whole", milliseconds(q, corner(q, whole))});
}

// Ways to cancel a step of Adam by a flag.
enum class Held { kNot, kSelect, kBranch, kRates };

struct AdamStep {
  Question q;
  std::vector<MPSGraphTensor*> variables;  // value, momentum, velocity
  NSArray* operations;
  MPSGraphTensor* flag;

  AdamStep(Held held, bool is_taken, const std::vector<float>& gradient, const std::vector<float>& start) {
    MPSGraph* g = q.graph;
    const Shape shape{static_cast<long>(gradient.size())};
    flag = q.feed(bytes(std::vector<uint8_t>{is_taken}), {1}, MPSDataTypeBool);
    for (const float value : start) variables.push_back(q.variable(std::vector<float>(gradient.size(), value), shape));
    MPSGraphTensor* incoming = q.feed(gradient, shape);
    const auto rate = [&](float value) { return q.feed(std::vector<float>{value}, {1}); };
    const auto where = [&](MPSGraphTensor* taken, MPSGraphTensor* not_taken) {
      return [g selectWithPredicateTensor:flag truePredicateTensor:taken falsePredicateTensor:not_taken name:nil];
    };
    std::vector<MPSGraphTensor*> rates{rate(0.125f), rate(0.5f), rate(0.75f)};
    if (held == Held::kRates) {
      rates = {where(rates[0], rate(0)), where(rates[1], rate(1)), where(rates[2], rate(1))};
      incoming = where(incoming, rate(0));
    }
    MPSGraphTensor* epsilon = rate(1e-3f);
    const auto step = [&] {
      return [g adamWithCurrentLearningRateTensor:rates[0]
                                      beta1Tensor:rates[1]
                                      beta2Tensor:rates[2]
                                    epsilonTensor:epsilon
                                     valuesTensor:variables[0]
                                   momentumTensor:variables[1]
                                   velocityTensor:variables[2]
                            maximumVelocityTensor:nil
                                   gradientTensor:incoming
                                             name:nil];
    };
    NSArray* made = held != Held::kBranch
                        ? step()
                        : [g ifWithPredicateTensor:flag
                              thenBlock:^NSArray<MPSGraphTensor*>* {
                                return step();
                              }
                              elseBlock:^NSArray<MPSGraphTensor*>* {
                                return [NSArray arrayWithObjects:q.identity(variables[0]), q.identity(variables[1]),
                                                                 q.identity(variables[2]), nil];
                              }
                              name:nil];
    NSMutableArray* assigned = [NSMutableArray array];
    for (NSUInteger i = 0; i < 3; ++i) {
      MPSGraphTensor* next = [made objectAtIndex:i];
      [assigned addObject:q.assign(variables[i], held == Held::kSelect ? where(next, variables[i]) : next)];
    }
    operations = assigned;
  }
};

// A Trainer cancels the step if the loss is not finite.
std::string held_step_times() {
  const std::vector<float> gradient(1 << 21, 0.5f);
  std::vector<std::string> words;
  for (const auto& [name, held] :
       {std::pair("free", Held::kNot), {"select", Held::kSelect}, {"branch", Held::kBranch}, {"rates", Held::kRates}}) {
    AdamStep step(held, true, gradient, {1, 0, 0});
    words.push_back(name);
    words.push_back(milliseconds(step.q, step.q.identity(step.flag), step.operations));
  }
  return join(words);
}

// Value, momentum and velocity after a cancelled step with a gradient of NaN.
std::string held_step() {
  std::vector<std::string> words;
  for (const Held held : {Held::kSelect, Held::kBranch, Held::kRates}) {
    AdamStep step(held, false, {NAN}, {3, 2, 0.25f});
    step.q.run({step.q.identity(step.flag)}, step.operations);
    for (MPSGraphTensor* variable : step.variables) words.push_back(step.q.value(variable));
  }
  return join(words);
}

// A product with sums of more than 32,767 elements: whole, then as the sum of two halves.
std::string long_product_times() {
  const long rows = 128, inner = 65536, half = inner / 2;
  Question q;
  MPSGraph* g = q.graph;
  MPSGraphTensor *a = q.feed({rows, inner}, wave), *b = q.feed({inner, rows}, wave);
  const auto product = [&](MPSGraphTensor* x, MPSGraphTensor* y) {
    return [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:y name:nil];
  };
  const auto part = [&](long start) {
    return product([g sliceTensor:a dimension:1 start:start length:half name:nil], [g sliceTensor:b
                                                                                        dimension:0
                                                                                            start:start
                                                                                           length:half
                                                                                             name:nil]);
  };
  MPSGraphTensor* halves = [g additionWithPrimaryTensor:part(0) secondaryTensor:part(half) name:nil];
  return join({"whole", milliseconds(q, product(a, b)), "halves", milliseconds(q, halves)});
}

// A product of a matrix in its order of memory, then of a matrix that is transposed first.
std::string turned_product_times() {
  const Shape shape{1024, 1024};
  Question q;
  MPSGraphTensor *a = q.feed(shape, wave), *b = q.feed(shape, wave);
  const auto product = [&](MPSGraphTensor* x) {
    return [q.graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:b name:nil];
  };
  MPSGraphTensor* turned = product([q.graph transposeTensor:a dimension:0 withDimension:1 name:nil]);
  return join({"straight", milliseconds(q, product(a)), "turned", milliseconds(q, turned)});
}

constexpr Probe kTimesRows[] = {
    {"held_step", "an Adam step held back in three ways", "3 2 0.25 3 2 0.25 3 2 0.25", 0,
     "what is not taken changes nothing", nullptr, held_step},
    {"held_step_ms", "ms of an Adam step that may not be taken", nullptr, 0,
     "the engine sends a select for each result", nullptr, held_step_times},
    {"attention_ms", "ms of an attention: composed, fused", nullptr, 0, "the engine sends the fused one", nullptr,
     attention_times},
    {"normalization_ms", "ms of a normalisation's gradient", nullptr, 0, "the engine composes it", nullptr,
     normalization_times},
    {"long_product_ms", "ms of a long product: whole, in halves", nullptr, 0, "the engine cuts it", nullptr,
     long_product_times},
    {"turned_product_ms", "ms of a product, and of a turned matrix", nullptr, 0, "the engine turns the matrix first",
     nullptr, turned_product_times},
};

}  // namespace

const std::span<const Probe> kTimes = kTimesRows;

}  // namespace alloy::probes
