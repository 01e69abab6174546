// Mean, variance, normalisation and its gradient ops.

#include "graph_testing.h"

static double product(double a, double b) { return a * b; }
static double difference(double a, double b) { return a - b; }

static Array mean_over(const Array& x, const std::vector<long>& axes) {
  const Array total = sum_over(x, axes);
  const double n = static_cast<double>(x.values.size()) / static_cast<double>(total.values.size());
  return map(total, [n](double s) { return s / n; });
}

static Array variance_over(const Array& x, const Array& mean, const std::vector<long>& axes) {
  return mean_over(map(map(x, mean, difference), [](double d) { return d * d; }), axes);
}

// (x - mean) / sqrt(variance + epsilon)
static Array standardised(const Array& x, const Array& mean, const Array& variance, double epsilon) {
  return map(map(x, mean, difference), variance, [epsilon](double d, double v) { return d / std::sqrt(v + epsilon); });
}

struct Moment {
  Shape shape;
  std::vector<long> axes, counted;
};

static const Moment kMoments[] = {
    {{3, 4, 5}, {0}, {0}},
    {{3, 4, 5}, {1}, {1}},
    {{3, 4, 5}, {-1}, {2}},
    {{3, 4, 5}, {2, 0}, {0, 2}},
    {{3, 4, 5}, {0, 1, 2}, {0, 1, 2}},
    {{2, 3, 4, 5}, {0, 1, 2}, {0, 1, 2}},
    {{2, 3, 4, 5}, {2, 3}, {2, 3}},
    {{2, 3, 4, 5}, {0, 2, 3}, {0, 2, 3}},
    {{67, 5}, {-2}, {0}},
};

TEST(moments) {
  for (const Moment& m : kMoments) {
    Session session;
    MPSGraph* g = session.graph();
    // Far from 0, where the mean square difference the squared mean would lose the variance.
    const Array x = random_array(m.shape, 300, 302);
    MPSGraphTensor* tx = session.feed(x);
    const Array mean = mean_over(x, m.counted);
    CHECK_ARRAY(session.run([g meanOfTensor:tx axes:numbers(m.axes) name:nil]), mean);
    CHECK_ARRAY_WITHIN(1e-4, session.run([g varianceOfTensor:tx axes:numbers(m.axes) name:nil]),
                       variance_over(x, mean, m.counted));
    // With a given mean, which need not be the true one.
    const Array given = map(mean, [](double v) { return v - 0.75; });
    CHECK_ARRAY_WITHIN(
        1e-4, session.run([g varianceOfTensor:tx meanTensor:session.feed(given) axes:numbers(m.axes) name:nil]),
        variance_over(x, given, m.counted));
  }
  Session session;
  const Array four({4}, {1, 2, 3, 4});
  CHECK_ARRAY(session.run([session.graph() varianceOfTensor:session.feed(four) axes:numbers({0}) name:nil]),
              Array({1}, 1.25));
}

// Exact, then truncated toward zero.
TEST(moments_of_integers) {
  for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* x = session.feed(Array({2, 4}, {1, 2, 3, 5, -1, -2, -3, -5}, type));  // means of 2.75, -2.75
    CHECK_ARRAY_WITHIN(0, session.run([g meanOfTensor:x axes:numbers({1}) name:nil]), Array({2, 1}, {2, -2}, type));
    CHECK_ARRAY_WITHIN(0, session.run([g varianceOfTensor:x axes:numbers({1}) name:nil]),
                       Array({2, 1}, {2, 2}, type));  // 2.19
    CHECK_ARRAY_WITHIN(0, session.run([g varianceOfTensor:x axes:numbers({0}) name:nil]),
                       Array({1, 4}, {1, 4, 9, 25}, type));
  }
}

// Where the statistics, the scale and the shift have these shapes.
struct Kind {
  Shape source;
  std::vector<long> axes;
  Shape scale;
};

static const Kind kKinds[] = {
    {{2, 3, 4, 5}, {0, 1, 2}, {5}},  // batch, NHWC
    {{2, 3, 4, 5}, {0, 1, 2}, {1, 1, 1, 5}},
    {{2, 3, 4, 5}, {0, 2, 3}, {1, 3, 1, 1}},  // batch, NCHW
    {{2, 3, 4, 5}, {1, 2}, {1, 1, 1, 5}},     // instance
    {{3, 4, 6}, {2}, {6}},                    // layer
    {{3, 4, 6}, {1, 2}, {4, 6}},
};

static const float kEpsilon = 0.125;

static MPSGraphTensor* normalised(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* mean, MPSGraphTensor* variance,
                                  MPSGraphTensor* gamma, MPSGraphTensor* beta) {
  return [g normalizationWithTensor:x
                         meanTensor:mean
                     varianceTensor:variance
                        gammaTensor:gamma
                         betaTensor:beta
                            epsilon:kEpsilon
                               name:nil];
}

TEST(normalisation) {
  for (const Kind& kind : kKinds) {
    Session session;
    MPSGraph* g = session.graph();
    const Array x = random_array(kind.source), gamma = signed_array(kind.scale, 0.5, 2),
                beta = random_array(kind.scale);
    // Statistics of somebody else, as inference uses them.
    const Array mean = map(mean_over(x, kind.axes), [](double m) { return m + 0.5; });
    const Array variance = random_array(mean.shape, 0.25, 2);
    MPSGraphTensor *tx = session.feed(x), *tm = session.feed(mean), *tv = session.feed(variance);
    MPSGraphTensor *tg = session.feed(gamma), *tb = session.feed(beta);
    const Array plain = standardised(x, mean, variance, kEpsilon);
    const Array scaled = map(plain, gamma, product);
    auto plus = [](double a, double b) { return a + b; };
    CHECK_ARRAY(session.run(normalised(g, tx, tm, tv, nil, nil)), plain);
    CHECK_ARRAY(session.run(normalised(g, tx, tm, tv, tg, nil)), scaled);
    CHECK_ARRAY(session.run(normalised(g, tx, tm, tv, nil, tb)), map(plain, beta, plus));
    CHECK_ARRAY(session.run(normalised(g, tx, tm, tv, tg, tb)), map(scaled, beta, plus));
  }
}

TEST(gradient_ops) {
  for (const Kind& kind : kKinds) {
    Session session;
    MPSGraph* g = session.graph();
    const Array x = random_array(kind.source), dy = random_array(kind.source);
    const Array mean = mean_over(x, kind.axes), variance = variance_over(x, mean, kind.axes);
    const Array plain = standardised(x, mean, variance, kEpsilon);
    const Array gamma_gradient = sum_over(map(dy, plain, product), kind.axes), beta_gradient = sum_over(dy, kind.axes);
    const Array gamma = signed_array(mean.shape, 0.5, 2);
    MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy), *tm = session.feed(mean),
                   *tv = session.feed(variance);
    MPSGraphTensor* tgg = [g normalizationGammaGradientWithIncomingGradientTensor:tdy
                                                                     sourceTensor:tx
                                                                       meanTensor:tm
                                                                   varianceTensor:tv
                                                                    reductionAxes:numbers(kind.axes)
                                                                          epsilon:kEpsilon
                                                                             name:nil];
    CHECK_ARRAY(session.run(tgg), gamma_gradient);
    MPSGraphTensor* tbg = [g normalizationBetaGradientWithIncomingGradientTensor:tdy
                                                                    sourceTensor:tx
                                                                   reductionAxes:numbers(kind.axes)
                                                                            name:nil];
    CHECK_ARRAY(session.run(tbg), beta_gradient);

    const double m = static_cast<double>(x.values.size()) / static_cast<double>(mean.values.size());
    auto input_gradient = [&](const Array& scale, const Array& by_gamma, const Array& by_beta) {
      Array dx(x.shape);
      for_each_index(x.shape, [&](const Index& i) {
        dx.at(i) = broadcast_at(scale, i) / std::sqrt(broadcast_at(variance, i) + static_cast<double>(kEpsilon)) *
                   (dy.at(i) - broadcast_at(by_beta, i) / m - plain.at(i) * broadcast_at(by_gamma, i) / m);
      });
      return dx;
    };
    auto op = [&](MPSGraphTensor* scale, MPSGraphTensor* by_gamma, MPSGraphTensor* by_beta) {
      return [g normalizationGradientWithIncomingGradientTensor:tdy
                                                   sourceTensor:tx
                                                     meanTensor:tm
                                                 varianceTensor:tv
                                                    gammaTensor:scale
                                            gammaGradientTensor:by_gamma
                                             betaGradientTensor:by_beta
                                                  reductionAxes:numbers(kind.axes)
                                                        epsilon:kEpsilon
                                                           name:nil];
    };
    const Array one(mean.shape, 1.0);
    CHECK_ARRAY(session.run(op(session.feed(gamma), tgg, tbg)), input_gradient(gamma, gamma_gradient, beta_gradient));
    // What is not given is 1, or computed.
    CHECK_ARRAY(session.run(op(nil, nil, nil)), input_gradient(one, gamma_gradient, beta_gradient));
    // What is given is used, whatever it is.
    const Array odd_gamma = random_array(mean.shape), odd_beta = random_array(mean.shape);
    CHECK_ARRAY(session.run(op(session.feed(gamma), session.feed(odd_gamma), session.feed(odd_beta))),
                input_gradient(gamma, odd_gamma, odd_beta));
  }
}

#ifndef __APPLE__  // how Apple's framework rounds is not known
TEST(halves_round_once) {
  const Shape shape = {4, 3, 5}, scale = {1, 1, 5};
  const std::vector<long> axes = {0, 1};
  const Array x = eighths(random_array(shape)), dy = eighths(random_array(shape)), mean = eighths(random_array(scale)),
              variance = eighths(random_array(scale, 0.25, 2)), gamma = eighths(signed_array(scale, 0.5, 2)),
              beta = eighths(random_array(scale));
  const Array plain = standardised(x, mean, variance, kEpsilon);
  const Build by_mean = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g varianceOfTensor:t.at(0) meanTensor:t.at(1) axes:numbers(axes) name:nil];
  };
  CHECK_HALVES(by_mean, (std::vector<Array>{x, mean}), variance_over(x, mean, axes));
  const Build normal = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return normalised(g, t.at(0), t.at(1), t.at(2), t.at(3), t.at(4));
  };
  CHECK_HALVES(normal, (std::vector<Array>{x, mean, variance, gamma, beta}),
               map(map(plain, gamma, product), beta, [](double a, double b) { return a + b; }));
  const Build by_gamma = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g normalizationGammaGradientWithIncomingGradientTensor:t.at(0)
                                                      sourceTensor:t.at(1)
                                                        meanTensor:t.at(2)
                                                    varianceTensor:t.at(3)
                                                     reductionAxes:numbers(axes)
                                                           epsilon:kEpsilon
                                                              name:nil];
  };
  CHECK_HALVES(by_gamma, (std::vector<Array>{dy, x, mean, variance}), sum_over(map(dy, plain, product), axes));
  const Build by_source = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g normalizationGradientWithIncomingGradientTensor:t.at(0)
                                                 sourceTensor:t.at(1)
                                                   meanTensor:t.at(2)
                                               varianceTensor:t.at(3)
                                                  gammaTensor:t.at(4)
                                          gammaGradientTensor:nil
                                           betaGradientTensor:nil
                                                reductionAxes:numbers(axes)
                                                      epsilon:kEpsilon
                                                         name:nil];
  };
  const Array first = mean_over(dy, axes), second = mean_over(map(dy, plain, product), axes);
  const Array centered = map(map(map(dy, first, difference), map(plain, second, product), difference), gamma, product);
  CHECK_HALVES(
      by_source, (std::vector<Array>{dy, x, mean, variance, gamma}),
      map(centered, variance, [](double d, double v) { return d / std::sqrt(v + static_cast<double>(kEpsilon)); }));
  // Operands of two types are refused, as they are elsewhere.
  Session session;
  MPSGraphTensor* half = [session.graph() castTensor:session.feed(x) toType:MPSDataTypeFloat16 name:nil];
  CHECK_RAISES([session.graph() varianceOfTensor:half meanTensor:session.feed(mean) axes:numbers(axes) name:nil]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
