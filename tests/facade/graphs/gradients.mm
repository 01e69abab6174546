// gradientForPrimaryTensor: how derivatives of ops add up to those of graphs. The derivative of each op is in
// its own file.

#include "graph_testing.h"

static double product(double a, double b) { return a * b; }

TEST(a_primary_of_many_elements_is_summed) {
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({3, 4});
  MPSGraphTensor* tx = session.feed(x);
  NSDictionary* gradients = [g gradientForPrimaryTensor:[g squareWithTensor:tx name:nil]
                                            withTensors:list(tx)
                                                   name:@"slope"];
  CHECK([gradients count] == 1);
  MPSGraphTensor* gradient = [gradients objectForKey:tx];
  CHECK(shape_of([gradient shape]) == Shape({3, 4}) && [gradient dataType] == MPSDataTypeFloat32);
  CHECK_ARRAY(session.run(gradient), map(x, [](double v) { return 2 * v; }));
}

TEST(the_primary_itself_has_gradient_one) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(random_array({2, 3}));
  MPSGraphTensor* y = [g tanhWithTensor:x name:nil];
  NSDictionary* gradients = [g gradientForPrimaryTensor:y withTensors:list(y) name:nil];
  CHECK_ARRAY(session.run(static_cast<MPSGraphTensor*>([gradients objectForKey:y])), Array({2, 3}, 1.0));
}

TEST(broadcast_operands_get_sums) {
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return plus(g, times(g, t.at(0), t.at(1)), t.at(2));
  };
  const Array x = random_array({2, 3, 4, 5}), scale = random_array({5}), shift = random_array({1, 3, 1, 1}),
              dy = random_array(x.shape);
  const Differentiated graph(build, {x, scale, shift}, dy);
  CHECK_ARRAY(graph.gradients.at(0), map(dy, scale, product));
  CHECK_ARRAY(graph.gradients.at(1), sum_to(map(dy, x, product), {5}));
  CHECK_ARRAY(graph.gradients.at(2), sum_to(dy, {1, 3, 1, 1}));
  CHECK_GRADIENTS(build, {x, scale, shift});
  // A scalar, on either side.
  const Build power = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g powerWithPrimaryTensor:t.at(0) secondaryTensor:t.at(1) name:nil];
  };
  CHECK_GRADIENTS(power, {random_array({3, 4}, 0.5, 2), Array(Shape{}, 1.5)});
  CHECK_GRADIENTS(power, {Array(Shape{}, 1.5), random_array({3, 4}, 0.5, 2)});
  CHECK_GRADIENTS(power, {random_array({3, 1}, 0.5, 2), random_array({1, 4}, 0.5, 2)});
}

TEST(every_use_of_a_tensor_counts) {
  const Array x = random_array({3, 4}), dy = random_array({3, 4});
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    MPSGraphTensor* shared = [g tanhWithTensor:t.at(0) name:nil];
    return plus(g, times(g, shared, t.at(0)), times(g, shared, shared));
  };
  // d(x tanh x + tanh^2 x) = tanh + (x + 2 tanh) (1 - tanh^2)
  const Array expected = map(x, dy, [](double v, double g) {
    const double t = std::tanh(v);
    return g * (t + (v + 2 * t) * (1 - t * t));
  });
  CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), expected);
  CHECK_GRADIENTS(build, {x});
}

TEST(a_variable_used_twice) {
  Session session;
  MPSGraph* g = session.graph();
  const Array w = random_array({3, 3}), x = random_array({2, 3});
  MPSGraphTensor *tw = variable(g, w), *tx = session.feed(x);
  MPSGraphTensor* hidden = matmul(g, tx, tw);
  MPSGraphTensor* out = matmul(g, hidden, tw);
  MPSGraphTensor* loss = total_of(g, out);
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:list(tw, hidden, tx) name:nil];
  auto matmul = [](const Array& a, const Array& b) {
    Array y({a.shape.at(0), b.shape.at(1)});
    for_each_index({a.shape.at(0), a.shape.at(1), b.shape.at(1)}, [&](const Index& i) {
      y.at({i.at(0), i.at(2)}) += a.at({i.at(0), i.at(1)}) * b.at({i.at(1), i.at(2)});
    });
    return y;
  };
  const Array ones({2, 3}, 1.0), dhidden = matmul(ones, permuted(w, {1, 0}));
  const Array dw = map(matmul(permuted(matmul(x, w), {1, 0}), ones), matmul(permuted(x, {1, 0}), dhidden),
                       [](double a, double b) { return a + b; });
  const std::vector<Array> found =
      session.run({[gradients objectForKey:tw], [gradients objectForKey:hidden], [gradients objectForKey:tx]});
  CHECK_ARRAY(found.at(0), dw);
  CHECK_ARRAY(found.at(1), dhidden);
  CHECK_ARRAY(found.at(2), matmul(dhidden, permuted(w, {1, 0})));
}

TEST(a_derivative_can_be_differentiated) {
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({3, 4});
  MPSGraphTensor* tx = session.feed(x);
  // x^4 by way of (x^2)^2
  MPSGraphTensor* y = [g squareWithTensor:[g squareWithTensor:tx name:nil] name:nil];
  MPSGraphTensor* first = gradient_of(g, y, tx);
  MPSGraphTensor* second = gradient_of(g, first, tx);
  const std::vector<Array> found = session.run({first, second});
  CHECK_ARRAY(found.at(0), map(x, [](double v) { return 4 * v * v * v; }));
  CHECK_ARRAY(found.at(1), map(x, [](double v) { return 12 * v * v; }));
}

TEST(gradients_of_unknown_lengths) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 3}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* scale = variable(g, Array({3}, {1, -2, 3}));
  MPSGraphTensor* mean = [g meanOfTensor:[g squareWithTensor:times(g, x, scale) name:nil] axes:numbers({0}) name:nil];
  NSDictionary* gradients = [g gradientForPrimaryTensor:mean withTensors:list(x, scale) name:nil];
  for (long n : {2, 5}) {
    const Array value = random_array({n, 3});
    session.set(x, value);
    const std::vector<Array> found = session.run({[gradients objectForKey:x], [gradients objectForKey:scale]});
    const Array s({3}, {1, -2, 3});
    const double count = static_cast<double>(n);
    CHECK_ARRAY(found.at(0), map(value, s, [count](double v, double f) { return 2 * v * f * f / count; }));
    CHECK_ARRAY(found.at(1), sum_to(map(value, s, [count](double v, double f) { return 2 * v * v * f / count; }), {3}));
  }
}

#ifndef __APPLE__
// On a Mac each of these aborts the process.
TEST(what_has_no_gradient_raises) {
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({3});
  MPSGraphTensor *tx = session.feed(x), *other = session.feed(x);
  MPSGraphTensor* loss = [g squareWithTensor:tx name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:loss withTensors:list(other) name:nil]);
  CHECK_RAISES([g gradientForPrimaryTensor:loss withTensors:list(tx, other) name:nil]);
  // Nothing flows through a comparison, the index of a maximum, a shape, or an integer.
  MPSGraphTensor* flags = [g castTensor:[g lessThanWithPrimaryTensor:tx secondaryTensor:other name:nil]
                                 toType:MPSDataTypeFloat32
                                   name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:flags withTensors:list(tx) name:nil]);
  MPSGraphTensor* best = [g castTensor:[g reductionArgMaximumWithTensor:tx axis:0 name:nil]
                                toType:MPSDataTypeFloat32
                                  name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:best withTensors:list(tx) name:nil]);
  MPSGraphTensor* length = [g castTensor:[g shapeOfTensor:tx name:nil] toType:MPSDataTypeFloat32 name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:length withTensors:list(tx) name:nil]);
  MPSGraphTensor* whole = [g castTensor:tx toType:MPSDataTypeInt32 name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:whole withTensors:list(tx) name:nil]);
  CHECK_RAISES([g gradientForPrimaryTensor:[g castTensor:whole toType:MPSDataTypeFloat32 name:nil]
                               withTensors:list(tx)
                                      name:nil]);
  MPSGraphTensor* sign = [g signWithTensor:tx name:nil];
  CHECK_RAISES([g gradientForPrimaryTensor:sign withTensors:list(tx) name:nil]);
  id nothing = nil;
  CHECK_RAISES([g gradientForPrimaryTensor:nothing withTensors:list(tx) name:nil]);
  // Where a path without a gradient lies beside one that has it, only that one counts.
  NSDictionary* gradients = [g gradientForPrimaryTensor:plus(g, loss, sign) withTensors:list(tx) name:nil];
  CHECK_ARRAY(session.run(static_cast<MPSGraphTensor*>([gradients objectForKey:tx])),
              map(x, [](double v) { return 2 * v; }));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
