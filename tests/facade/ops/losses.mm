// Softmax cross entropy: every reduction, every axis, and its gradient op.

#include "graph_testing.h"

static Array log_softmax(const Array& x, long axis) {
  const Array most =
      reduce(x, {axis}, -std::numeric_limits<double>::infinity(), [](double a, double b) { return std::fmax(a, b); });
  const Array total = sum_over(map(x, most, [](double a, double m) { return std::exp(a - m); }), {axis});
  const Array shift = map(most, total, [](double m, double s) { return m + std::log(s); });
  return map(x, shift, [](double a, double s) { return a - s; });
}

// What the losses of the samples are divided by.
static double divisor(const Array& x, long axis, MPSGraphLossReductionType type) {
  const double samples =
      static_cast<double>(x.values.size()) / static_cast<double>(x.shape.at(static_cast<size_t>(axis)));
  return type == MPSGraphLossReductionTypeMean ? samples : 1;
}

static Array loss(const Array& x, const Array& labels, long axis, MPSGraphLossReductionType type) {
  const Array each = sum_over(map(log_softmax(x, axis), labels, [](double l, double t) { return -l * t; }), {axis});
  if (type == MPSGraphLossReductionTypeAxis) return each;
  double total = 0;
  for (double v : each.values) total += v;
  return Array({1}, total / divisor(x, axis, type));
}

// d(loss)/d(x), times what comes in.
static Array source_gradient(const Array& dy, const Array& x, const Array& labels, long axis,
                             MPSGraphLossReductionType type) {
  const Array logs = log_softmax(x, axis), mass = sum_over(labels, {axis});
  Array dx(x.shape);
  for_each_index(x.shape, [&](const Index& i) {
    dx.at(i) =
        (std::exp(logs.at(i)) * broadcast_at(mass, i) - labels.at(i)) * broadcast_at(dy, i) / divisor(x, axis, type);
  });
  return dx;
}

static Array one_hot(const Shape& shape, long axis) {
  Array labels(shape);
  Shape others = shape;
  others.at(static_cast<size_t>(axis)) = 1;
  for_each_index(others, [&](Index i) {
    i.at(static_cast<size_t>(axis)) =
        static_cast<long>(next_random() * static_cast<double>(shape.at(static_cast<size_t>(axis))));
    labels.at(i) = 1;
  });
  return labels;
}

static MPSGraphTensor* cross_entropy(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* labels, NSInteger axis,
                                     MPSGraphLossReductionType type) {
  return [g softMaxCrossEntropyWithSourceTensor:x labelsTensor:labels axis:axis reductionType:type name:nil];
}

TEST(values_and_gradients) {
  const Shape shape = {2, 3, 4};
  for (MPSGraphLossReductionType type :
       {MPSGraphLossReductionTypeAxis, MPSGraphLossReductionTypeSum, MPSGraphLossReductionTypeMean}) {
    for (long axis = -3; axis < 3; ++axis) {
      const long counted = axis < 0 ? axis + 3 : axis;
      const Array x = random_array(shape, -4, 4);
      // Distributions, and weights whose sum is not 1.
      for (const Array& labels : {one_hot(shape, counted), random_array(shape, 0.25, 2)}) {
        Session session;
        MPSGraph* g = session.graph();
        MPSGraphTensor *tx = session.feed(x), *tl = session.feed(labels);
        const Array y = loss(x, labels, counted, type), dy = random_array(y.shape, 0.5, 2);
        CHECK_ARRAY(session.run(cross_entropy(g, tx, tl, axis, type)), y);
        CHECK_ARRAY(session.run([g softMaxCrossEntropyGradientWithIncomingGradientTensor:session.feed(dy)
                                                                            sourceTensor:tx
                                                                            labelsTensor:tl
                                                                                    axis:axis
                                                                           reductionType:type
                                                                                    name:nil]),
                    source_gradient(dy, x, labels, counted, type));
      }
    }
  }
}

TEST(a_scalar_as_the_incoming_gradient) {
  Session session;
  const Array x = random_array({4, 3}), labels = one_hot({4, 3}, 1);
  MPSGraphTensor* two = scalar(session.graph(), 2);
  MPSGraphTensor* dx =
      [session.graph() softMaxCrossEntropyGradientWithIncomingGradientTensor:two
                                                                sourceTensor:session.feed(x)
                                                                labelsTensor:session.feed(labels)
                                                                        axis:1
                                                               reductionType:MPSGraphLossReductionTypeMean
                                                                        name:nil];
  CHECK_ARRAY(session.run(dx), source_gradient(Array({1}, 2.0), x, labels, 1, MPSGraphLossReductionTypeMean));
}

#ifndef __APPLE__  // how Apple's framework rounds is not known
TEST(the_gradient_rounds_once) {
  const Array x = eighths(random_array({3, 8}, -4, 4)), labels = eighths(random_array({3, 8}, 0.25, 2)),
              dy = eighths(random_array({3, 1}, 0.5, 2));
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g softMaxCrossEntropyGradientWithIncomingGradientTensor:t.at(0)
                                                       sourceTensor:t.at(1)
                                                       labelsTensor:t.at(2)
                                                               axis:1
                                                      reductionType:MPSGraphLossReductionTypeAxis
                                                               name:nil];
  };
  CHECK_HALVES(build, (std::vector<Array>{dy, x, labels}),
               source_gradient(dy, x, labels, 1, MPSGraphLossReductionTypeAxis));
}
#endif

TEST(large_numbers_do_not_overflow) {
  Session session;
  const Array x({2, 3}, {1000, 1001, 999, -1000, -1001, -3000}), labels({2, 3}, {0, 0, 1, 0, 1, 0});
  CHECK_ARRAY(session.run(cross_entropy(session.graph(), session.feed(x), session.feed(labels), 1,
                                        MPSGraphLossReductionTypeSum)),
              loss(x, labels, 1, MPSGraphLossReductionTypeSum));
}

int main(int count, char** arguments) { return check::run(count, arguments); }
