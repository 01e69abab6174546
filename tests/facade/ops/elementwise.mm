// Elementwise arithmetic and activations beyond what the engine sends: operands of two types, gradient ops, leaky
// rectifiers, softmax along axes counted from the end. The engine's own are in tests/python/ops/test_ops.py.

#include "graph_testing.h"

struct BinaryRow {
  const char* name;
  MPSGraphTensor* (*call)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*);
  double (*value)(double, double);
};

#define BINARY(stem)                                                 \
  #stem, [](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {     \
    return [g stem##WithPrimaryTensor:a secondaryTensor:b name:nil]; \
  }

static const BinaryRow kBinary[] = {
    {BINARY(addition), [](double a, double b) { return a + b; }},
    {BINARY(subtraction), [](double a, double b) { return a - b; }},
    {BINARY(multiplication), [](double a, double b) { return a * b; }},
    {BINARY(power), [](double a, double b) { return std::pow(a, b); }},
    {BINARY(minimum), [](double a, double b) { return std::fmin(a, b); }},
    {BINARY(maximum), [](double a, double b) { return std::fmax(a, b); }},
};

// A bool, the result of a comparison, counts as 0 or 1 of the other operand's type.
TEST(numbers_with_bools) {
  const Array flags = random_integers({4, 5}, 0, 1, MPSDataTypeBool);
  for (const BinaryRow& row : kBinary) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64}) {
      const Array x = type == MPSDataTypeFloat32 ? random_array({5}, 0.5, 2) : random_integers({5}, 1, 9, type);
      const Array as_numbers(flags.shape, flags.values, type);
      Session session;
      MPSGraphTensor *tx = session.feed(x), *tflags = session.feed(flags);
      check::report_array(session.run(row.call(session.graph(), tflags, tx)), map(as_numbers, x, row.value), 1e-5,
                          row.name, __FILE__, __LINE__);
      check::report_array(session.run(row.call(session.graph(), tx, tflags)), map(x, as_numbers, row.value), 1e-5,
                          row.name, __FILE__, __LINE__);
    }
  }
}

#ifndef __APPLE__
// The gradient flows to the number.
TEST(gradients_of_numbers_with_bools) {
  const Array x = distinct_array({4, 5}), dy = random_array({4, 5});
  const Build rectified = [](MPSGraph* g, const Tensors& t) {
    return times(g, [g greaterThanWithPrimaryTensor:t.at(0) secondaryTensor:scalar(g, 0) name:nil], t.at(0));
  };
  CHECK_ARRAY(Differentiated(rectified, {x}, dy).gradients.at(0),
              map(x, dy, [](double v, double d) { return v > 0 ? d : 0; }));
}
#endif

TEST(select_takes_where_a_number_is_not_zero) {
  for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeFloat32}) {
    const Array predicate = random_integers({3, 1, 5}, -1, 1, type), yes = random_array({4, 1}),
                no = random_array({3, 1, 1});
    Array expected({3, 4, 5});
    for_each_index(expected.shape, [&](const Index& i) {
      expected.at(i) = broadcast_at(predicate, i) != 0 ? broadcast_at(yes, i) : broadcast_at(no, i);
    });
    CHECK_WAYS(predicate, expected,
               WAY([g selectWithPredicateTensor:x
                            truePredicateTensor:constant(g, yes)
                           falsePredicateTensor:constant(g, no)
                                           name:nil]));
  }
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
TEST(the_newer_name_of_the_reciprocal_root) {
  SKIP_UNLESS([MPSGraph instancesRespondToSelector:@selector(reciprocalSquareRootWithTensor:name:)]);
  Session session;
  const Array x = random_array({3, 5}, 0.5, 3);
  CHECK_ARRAY(session.run([session.graph() reciprocalSquareRootWithTensor:session.feed(x) name:nil]),
              map(x, [](double v) { return 1 / std::sqrt(v); }));
}
#endif

// ---- activations ----

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }
static double product(double a, double b) { return a * b; }

// A gradient takes the input of the forward op, not its result, and the incoming gradient first.
TEST(gradient_ops) {
  Session session;
  MPSGraph* g = session.graph();
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Array x({9}, {-infinity, -200, -1.5, -0.25, 0, 0.5, 3, 200, infinity}), dy = signed_array({9});
  MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
  CHECK_ARRAY(session.run([g reLUGradientWithIncomingGradient:tdy sourceTensor:tx name:nil]),
              map(dy, map(x, [](double v) { return v > 0 ? 1.0 : 0.0; }), product));
  CHECK_ARRAY(session.run([g sigmoidGradientWithIncomingGradient:tdy sourceTensor:tx name:nil]),
              map(dy, map(x, [](double v) { return logistic(v) * (1 - logistic(v)); }), product));
  // The gradient of a NaN is seen.
  MPSGraphTensor *odd = session.feed(Array({2}, {nan, -1})), *two = session.feed(Array({2}, {3, 4}));
  CHECK_ARRAY(session.run([g reLUGradientWithIncomingGradient:two sourceTensor:odd name:nil]), Array({2}, {3, 0}));
}

TEST(leaky_rectifiers) {
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
}

static Array softmax(const Array& x, long axis) {
  const Array e = map(x, [](double v) { return std::exp(v); });
  return map(e, sum_over(e, {axis}), [](double a, double s) { return a / s; });
}

TEST(soft_max_along_every_axis) {
  for (long axis = -3; axis < 3; ++axis) {
    const Array x = random_array({3, 4, 5}, -4, 4);
    Session session;
    CHECK_ARRAY(session.run([session.graph() softMaxWithTensor:session.feed(x) axis:axis name:nil]),
                softmax(x, axis < 0 ? axis + 3 : axis));
  }
}

#ifndef __APPLE__
// Our reading of Apple's text: the source is the input of the forward op, as for the other activations.
static Array softmax_gradient(const Array& dy, const Array& x, long axis) {
  const Array y = softmax(x, axis), inner = sum_over(map(dy, y, product), {axis});
  return map(y, map(dy, inner, [](double a, double b) { return a - b; }), product);
}

TEST(gradients_of_soft_max_along_every_axis) {
  for (long axis = -3; axis < 3; ++axis) {
    const Array x = random_array({3, 4, 5}, -4, 4), dy = random_array(x.shape);
    Session session;
    CHECK_ARRAY(session.run([session.graph() softMaxGradientWithIncomingGradient:session.feed(dy)
                                                                    sourceTensor:session.feed(x)
                                                                            axis:axis
                                                                            name:nil]),
                softmax_gradient(dy, x, axis < 0 ? axis + 3 : axis));
  }
}

// How Apple's framework rounds is not known.
TEST(the_gradient_of_a_soft_max_rounds_once) {
  const Array x = eighths(random_array({3, 8}, -4, 4)), dy = eighths(random_array({3, 8}));
  const Build build = [](MPSGraph* g, const Tensors& t) {
    return [g softMaxGradientWithIncomingGradient:t.at(0) sourceTensor:t.at(1) axis:1 name:nil];
  };
  CHECK_HALVES(build, (std::vector<Array>{dy, x}), softmax_gradient(dy, x, 1));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
