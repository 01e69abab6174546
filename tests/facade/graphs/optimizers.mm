// Optimizer ops: what they compute, what they write.

#include "graph_testing.h"

static Array descended(double rate, const Array& values, const Array& gradient) {
  return map(values, gradient, [rate](double v, double d) { return v - rate * d; });
}

TEST(stochastic_gradient_descent) {
  for (const Shape& shape : {Shape{3, 5}, Shape{1}, Shape{7, 2, 3}}) {
    Session session;
    MPSGraph* g = session.graph();
    const Array values = random_array(shape), gradient = random_array(shape);
    MPSGraphTensor *state = variable(g, values), *tg = session.feed(gradient);
    for (MPSGraphTensor* rate : {scalar(g, 0.25), session.feed(Array({1}, 0.25)), variable(g, Array({1}, 0.25))}) {
      MPSGraphTensor* updated = descended(g, rate, state, tg);
      CHECK_ARRAY(session.run(updated), descended(0.25, values, gradient));
      CHECK_ARRAY(session.run(state), values);
    }
    MPSGraphOperation* step =
        [g applyStochasticGradientDescentWithLearningRateTensor:scalar(g, 0.5)
                                                       variable:static_cast<MPSGraphVariableOp*>([state operation])
                                                 gradientTensor:tg
                                                           name:@"step"];
    CHECK_ARRAY(session.run(state), values);
    session.perform({step});
    CHECK_ARRAY(session.run(state), descended(0.5, values, gradient));
    session.perform({step});
    CHECK_ARRAY(session.run(state), descended(1, values, gradient));
  }
}

struct Moments {
  Array values, momentum, velocity, maximum;
};

static const double kRate = 0.375, kBeta1 = 0.75, kBeta2 = 0.625, kEpsilon = 0.125;

// Adam by its formula, with a learning rate that is already corrected; `keeps_maximum` is AMSGrad.
static Moments adam(double rate, const Moments& old, const Array& gradient, bool keeps_maximum) {
  Moments now;
  now.momentum = map(old.momentum, gradient, [](double m, double g) { return kBeta1 * m + (1 - kBeta1) * g; });
  now.velocity = map(old.velocity, gradient, [](double v, double g) { return kBeta2 * v + (1 - kBeta2) * g * g; });
  now.maximum = map(old.maximum, now.velocity, [](double a, double b) { return std::fmax(a, b); });
  const Array step = map(now.momentum, keeps_maximum ? now.maximum : now.velocity,
                         [rate](double m, double v) { return rate * m / (std::sqrt(v) + kEpsilon); });
  now.values = map(old.values, step, [](double v, double s) { return v - s; });
  return now;
}

static void check_adam(NSArray<MPSGraphTensor*>* results, Session& session, const Moments& expected,
                       bool keeps_maximum) {
  CHECK([results count] == (keeps_maximum ? 4u : 3u));
  std::vector<MPSGraphTensor*> wanted;
  for (MPSGraphTensor* result in results) wanted.push_back(result);
  const std::vector<Array> found = session.run(wanted);
  CHECK_ARRAY(found.at(0), expected.values);
  CHECK_ARRAY(found.at(1), expected.momentum);
  CHECK_ARRAY(found.at(2), expected.velocity);
  if (keeps_maximum) CHECK_ARRAY(found.at(3), expected.maximum);
}

TEST(adam_in_both_forms) {
  for (const Shape& shape : {Shape{3, 5}, Shape{1}, Shape{4, 3, 2}}) {
    for (bool keeps_maximum : {false, true}) {
      Session session;
      MPSGraph* g = session.graph();
      const Moments old{random_array(shape), random_array(shape), random_array(shape, 0.25, 2),
                        random_array(shape, 0.25, 2)};
      const Array gradient = random_array(shape);
      MPSGraphTensor *values = variable(g, old.values), *momentum = variable(g, old.momentum);
      MPSGraphTensor *velocity = variable(g, old.velocity), *maximum = keeps_maximum ? variable(g, old.maximum) : nil;
      MPSGraphTensor* tg = session.feed(gradient);
      check_adam([g adamWithCurrentLearningRateTensor:scalar(g, kRate)
                                          beta1Tensor:scalar(g, kBeta1)
                                          beta2Tensor:scalar(g, kBeta2)
                                        epsilonTensor:scalar(g, kEpsilon)
                                         valuesTensor:values
                                       momentumTensor:momentum
                                       velocityTensor:velocity
                                maximumVelocityTensor:maximum
                                       gradientTensor:tg
                                                 name:nil],
                 session, adam(kRate, old, gradient, keeps_maximum), keeps_maximum);
      // The powers are given: at step 3, the cubes. Coefficients of shape [1] are scalars too.
      const double power1 = kBeta1 * kBeta1 * kBeta1, power2 = kBeta2 * kBeta2 * kBeta2;
      const double corrected = kRate * std::sqrt(1 - power2) / (1 - power1);
      check_adam([g adamWithLearningRateTensor:session.feed(Array({1}, kRate))
                                   beta1Tensor:session.feed(Array({1}, kBeta1))
                                   beta2Tensor:session.feed(Array({1}, kBeta2))
                                 epsilonTensor:session.feed(Array({1}, kEpsilon))
                              beta1PowerTensor:session.feed(Array({1}, power1))
                              beta2PowerTensor:session.feed(Array({1}, power2))
                                  valuesTensor:values
                                momentumTensor:momentum
                                velocityTensor:velocity
                         maximumVelocityTensor:maximum
                                gradientTensor:tg
                                          name:@"adam"],
                 session, adam(corrected, old, gradient, keeps_maximum), keeps_maximum);
      CHECK_ARRAY(session.run(values), old.values);
      CHECK_ARRAY(session.run(momentum), old.momentum);
      CHECK_ARRAY(session.run(velocity), old.velocity);
    }
  }
}

int main(int count, char** arguments) { return check::run(count, arguments); }
