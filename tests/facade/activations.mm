// Activations, their gradient ops and their derivatives.

#include "graph_testing.h"

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Row {
  const char* name;
  MPSGraphTensor* (*forward)(MPSGraph*, MPSGraphTensor*);
  MPSGraphTensor* (*backward)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*);
  double (*value)(double);
  double (*derivative)(double);
};

static const Row kRows[] = {
    {"reLU", [](MPSGraph* g, MPSGraphTensor* x) { return [g reLUWithTensor:x name:nil]; },
     [](MPSGraph* g, MPSGraphTensor* dy, MPSGraphTensor* x) {
       return [g reLUGradientWithIncomingGradient:dy sourceTensor:x name:nil];
     },
     [](double x) { return x > 0 ? x : 0; }, [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"sigmoid", [](MPSGraph* g, MPSGraphTensor* x) { return [g sigmoidWithTensor:x name:nil]; },
     [](MPSGraph* g, MPSGraphTensor* dy, MPSGraphTensor* x) {
       return [g sigmoidGradientWithIncomingGradient:dy sourceTensor:x name:nil];
     },
     logistic, [](double x) { return logistic(x) * (1 - logistic(x)); }},
};

static void elementwise_activations() {
  for (const Row& row : kRows) {
    Session session;
    const Array x = signed_array({3, 5, 7}, 0.125, 5), dy = random_array({3, 5, 7});
    MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
    check::report_array(session.run(row.forward(session.graph(), tx)), map(x, row.value), 1e-5, row.name, __FILE__,
                        __LINE__);
    // The gradient takes the input of the forward op, not its result, and the incoming gradient first.
    const Array dx = map(dy, map(x, row.derivative), [](double g, double d) { return g * d; });
    check::report_array(session.run(row.backward(session.graph(), tdy, tx)), dx, 1e-5, row.name, __FILE__, __LINE__);
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) { return row.forward(g, t.at(0)); };
    const Differentiated graph(build, {x}, dy);
    check::report_array(graph.gradients.at(0), dx, 1e-5, row.name, __FILE__, __LINE__);
    check::report_gradients(build, {x}, 1e-3, row.name, __FILE__, __LINE__);
  }
}

static void extremes() {
  const double infinity = std::numeric_limits<double>::infinity();
  Session session;
  MPSGraph* graph = session.graph();
  MPSGraphTensor* x = session.feed(Array({5}, {-infinity, -200, 0, 200, infinity}));
  MPSGraphTensor* dy = session.feed(Array({5}, {1, 2, 4, 8, 16}));
  CHECK_ARRAY(session.run([graph sigmoidWithTensor:x name:nil]), Array({5}, {0, 0, 0.5, 1, 1}));
  CHECK_ARRAY(session.run([graph reLUWithTensor:x name:nil]), Array({5}, {0, 0, 0, 200, infinity}));
  CHECK_ARRAY(session.run([graph sigmoidGradientWithIncomingGradient:dy sourceTensor:x name:nil]),
              Array({5}, {0, 0, 1, 0, 0}));
  // At 0 nothing flows.
  CHECK_ARRAY(session.run([graph reLUGradientWithIncomingGradient:dy sourceTensor:x name:nil]),
              Array({5}, {0, 0, 0, 8, 16}));
  // A NaN is seen, and its gradient too.
  MPSGraphTensor *nan = session.feed(Array({2}, {std::nan(""), -1})), *two = session.feed(Array({2}, {3, 4}));
  const Array seen = session.run([graph reLUWithTensor:nan name:nil]);
  CHECK(std::isnan(seen.values.at(0)) && seen.values.at(1) == 0);
  CHECK_ARRAY(session.run([graph reLUGradientWithIncomingGradient:two sourceTensor:nan name:nil]), Array({2}, {3, 0}));
}

static Array softmax(const Array& x, long axis) {
  const Array most =
      reduce(x, {axis}, -std::numeric_limits<double>::infinity(), [](double a, double b) { return std::fmax(a, b); });
  const Array e = map(x, most, [](double a, double m) { return std::exp(a - m); });
  return map(e, sum_over(e, {axis}), [](double a, double s) { return a / s; });
}

static Array softmax_gradient(const Array& dy, const Array& x, long axis) {
  auto times = [](double a, double b) { return a * b; };
  const Array y = softmax(x, axis);
  const Array inner = sum_over(map(dy, y, times), {axis});
  return map(y, map(dy, inner, [](double a, double b) { return a - b; }), times);
}

static void soft_max_along_every_axis() {
  for (const Shape& shape : {Shape{3, 4, 5}, Shape{2, 37}, Shape{1, 1, 6, 2}}) {
    const long rank = static_cast<long>(shape.size());
    for (long axis = -rank; axis < rank; ++axis) {
      const long counted = axis < 0 ? axis + rank : axis;
      Session session;
      const Array x = random_array(shape, -4, 4), dy = random_array(shape);
      MPSGraphTensor* tx = session.feed(x);
      CHECK_ARRAY(session.run([session.graph() softMaxWithTensor:tx axis:axis name:nil]), softmax(x, counted));
      const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g softMaxWithTensor:t.at(0) axis:axis name:nil];
      };
      CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), softmax_gradient(dy, x, counted));
      CHECK_GRADIENTS(build, {x});
#ifndef __APPLE__
      // Our reading of Apple's text: the source is the input of the forward op, as for the other activations.
      CHECK_ARRAY(session.run([session.graph() softMaxGradientWithIncomingGradient:session.feed(dy)
                                                                      sourceTensor:tx
                                                                              axis:axis
                                                                              name:nil]),
                  softmax_gradient(dy, x, counted));
#endif
    }
  }
}

#ifndef __APPLE__  // how Apple's framework rounds is not known
static void the_gradient_of_a_soft_max_rounds_once() {
  const Array x = eighths(random_array({3, 8}, -4, 4)), dy = eighths(random_array({3, 8}));
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g softMaxGradientWithIncomingGradient:t.at(0) sourceTensor:t.at(1) axis:1 name:nil];
  };
  CHECK_HALVES(build, (std::vector<Array>{dy, x}), softmax_gradient(dy, x, 1));
}
#endif

static void soft_max_does_not_overflow() {
  Session session;
  const Array x({2, 3}, {1000, 1001, 999, -1000, -1001, -3000});
  CHECK_ARRAY(session.run([session.graph() softMaxWithTensor:session.feed(x) axis:1 name:nil]), softmax(x, 1));
}

static void leaky_rectifiers() {
  const Array x({2, 4}, {-3, -0.5, 0, 2, 5, -1, 0.25, -8}), alphas({4}, {0.1, 0.5, 2, -1}), dy = random_array({2, 4});
  const auto leaky = [](double v, double alpha) { return std::fmax(v, alpha * v); };
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(x), *ta = session.feed(alphas);
  for (const double alpha : {0.25, 3.0}) {
    CHECK_ARRAY(session.run([g leakyReLUWithTensor:tx alpha:alpha name:nil]),
                map(x, [&](double v) { return leaky(v, alpha); }));
  }
  CHECK_ARRAY(session.run([g leakyReLUWithTensor:tx alphaTensor:ta name:nil]), map(x, alphas, leaky));
  Array expected(x.shape);
  for_each_index(x.shape, [&](const Index& i) {
    const double alpha = broadcast_at(alphas, i);
    expected.at(i) = dy.at(i) * (x.at(i) > alpha * x.at(i) ? 1 : alpha);
  });
  CHECK_ARRAY(session.run([g leakyReLUGradientWithIncomingGradient:session.feed(dy)
                                                      sourceTensor:tx
                                                       alphaTensor:ta
                                                              name:nil]),
              expected);
#ifndef __APPLE__  // Apple's own gradient at 0 is not known
  const Build build = [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph leakyReLUWithTensor:t.at(0) alphaTensor:t.at(1) name:nil];
  };
  CHECK_ARRAY(Differentiated(build, {x, alphas}, dy).gradients.at(0), expected);
#endif
}

int main() {
  @autoreleasepool {
    elementwise_activations();
    extremes();
    leaky_rectifiers();
    soft_max_along_every_axis();
    soft_max_does_not_overflow();
#ifndef __APPLE__
    the_gradient_of_a_soft_max_rounds_once();
#endif
  }
  return check::summary();
}
