// Softmax cross entropy: every reduction, every axis, its gradient op and its derivatives.

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

// d(loss)/d(x) and d(loss)/d(labels), times what comes in.
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

static Array labels_gradient(const Array& dy, const Array& x, long axis, MPSGraphLossReductionType type) {
  const Array logs = log_softmax(x, axis);
  Array dl(x.shape);
  for_each_index(x.shape,
                 [&](const Index& i) { dl.at(i) = -logs.at(i) * broadcast_at(dy, i) / divisor(x, axis, type); });
  return dl;
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

static void values_and_gradients() {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 4}, Shape{2, 3, 2, 5}}) {
    const long rank = static_cast<long>(shape.size());
    for (MPSGraphLossReductionType type :
         {MPSGraphLossReductionTypeAxis, MPSGraphLossReductionTypeSum, MPSGraphLossReductionTypeMean}) {
      for (long axis = -rank; axis < rank; ++axis) {
        const long counted = axis < 0 ? axis + rank : axis;
        const Array x = random_array(shape, -4, 4);
        // Distributions, and weights whose sum is not 1.
        for (const Array& labels : {one_hot(shape, counted), random_array(shape, 0.25, 2)}) {
          Session session;
          MPSGraphTensor *tx = session.feed(x), *tl = session.feed(labels);
          const Array y = loss(x, labels, counted, type), dy = random_array(y.shape, 0.5, 2);
          CHECK_ARRAY(session.run(cross_entropy(session.graph(), tx, tl, axis, type)), y);
          const Array dx = source_gradient(dy, x, labels, counted, type);
          CHECK_ARRAY(
              session.run([session.graph() softMaxCrossEntropyGradientWithIncomingGradientTensor:session.feed(dy)
                                                                                    sourceTensor:tx
                                                                                    labelsTensor:tl
                                                                                            axis:axis
                                                                                   reductionType:type
                                                                                            name:nil]),
              dx);
          const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
            return cross_entropy(g, t.at(0), t.at(1), axis, type);
          };
          const Differentiated graph(build, {x, labels}, dy);
          CHECK_ARRAY(graph.gradients.at(0), dx);
          CHECK_ARRAY(graph.gradients.at(1), labels_gradient(dy, x, counted, type));
          CHECK_GRADIENTS(build, {x, labels});
        }
      }
    }
  }
}

static void a_scalar_as_the_incoming_gradient() {
  Session session;
  const Array x = random_array({4, 3}), labels = one_hot({4, 3}, 1);
  MPSGraphTensor* two = [session.graph() constantWithScalar:2 dataType:MPSDataTypeFloat32];
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
static void the_gradient_rounds_once() {
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

static void large_numbers_do_not_overflow() {
  Session session;
  const Array x({2, 3}, {1000, 1001, 999, -1000, -1001, -3000}), labels({2, 3}, {0, 0, 1, 0, 1, 0});
  CHECK_ARRAY(session.run(cross_entropy(session.graph(), session.feed(x), session.feed(labels), 1,
                                        MPSGraphLossReductionTypeSum)),
              loss(x, labels, 1, MPSGraphLossReductionTypeSum));
}

int main() {
  @autoreleasepool {
    values_and_gradients();
    a_scalar_as_the_incoming_gradient();
    large_numbers_do_not_overflow();
#ifndef __APPLE__
    the_gradient_rounds_once();
#endif
  }
  return check::summary();
}
