// Reductions over axes: values, forms of the axes, types, special numbers, derivatives.

#include "graph_testing.h"

static const double kNan = std::nan(""), kInfinity = std::numeric_limits<double>::infinity();

struct Row {
  const char* name;
  MPSGraphTensor* (*over_axes)(MPSGraph*, MPSGraphTensor*, NSArray<NSNumber*>*);
  MPSGraphTensor* (*over_axis)(MPSGraph*, MPSGraphTensor*, NSInteger);
  double initial;
  double (*combine)(double, double);
};

#define AXES(...) [](MPSGraph* g, MPSGraphTensor* x, NSArray<NSNumber*>* axes) { return __VA_ARGS__; }
#define AXIS(...) [](MPSGraph* g, MPSGraphTensor* x, NSInteger axis) { return __VA_ARGS__; }

static const Row kRows[] = {
    {"sum", AXES([g reductionSumWithTensor:x axes:axes name:nil]),
     AXIS([g reductionSumWithTensor:x axis:axis name:nil]), 0, [](double a, double b) { return a + b; }},
    {"maximum", AXES([g reductionMaximumWithTensor:x axes:axes name:nil]),
     AXIS([g reductionMaximumWithTensor:x axis:axis name:nil]), -kInfinity,
     [](double a, double b) { return std::fmax(a, b); }},
    {"minimum", AXES([g reductionMinimumWithTensor:x axes:axes name:nil]),
     AXIS([g reductionMinimumWithTensor:x axis:axis name:nil]), kInfinity,
     [](double a, double b) { return std::fmin(a, b); }},
    {"product", AXES([g reductionProductWithTensor:x axes:axes name:nil]),
     AXIS([g reductionProductWithTensor:x axis:axis name:nil]), 1, [](double a, double b) { return a * b; }},
};

static Array operand_of(const Row& row, const Shape& shape) {
  const bool compares = row.initial == kInfinity || row.initial == -kInfinity;
  return compares ? distinct_array(shape) : signed_array(shape, 0.75, 1.25);
}

static void check_reduction(const Row& row, const Shape& shape, NSArray<NSNumber*>* axes,
                            const std::vector<long>& counted) {
  Session session;
  const Array x = operand_of(row, shape);
  const Array y = session.run(row.over_axes(session.graph(), session.feed(x), axes));
  check::report_array(y, reduce(x, counted, row.initial, row.combine), 2e-5, row.name, __FILE__, __LINE__);
  if (element_count(shape) > 100) return;
  const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return row.over_axes(g, t.at(0), axes);
  };
  check::report_gradients(build, {x}, 1e-3, row.name, __FILE__, __LINE__);
}

static void reductions_over_axes() {
  for (const Row& row : kRows) {
    check_reduction(row, {3, 4, 5}, numbers({0}), {0});
    check_reduction(row, {3, 4, 5}, numbers({1}), {1});
    check_reduction(row, {3, 4, 5}, numbers({2}), {2});
    check_reduction(row, {3, 4, 5}, numbers({-1}), {2});
    check_reduction(row, {3, 4, 5}, numbers({2, 0}), {0, 2});
    check_reduction(row, {3, 4, 5}, numbers({-3, 1}), {0, 1});
    check_reduction(row, {3, 4, 5}, numbers({1, 1, -2}), {1});
    check_reduction(row, {3, 4, 5}, nil, {0, 1, 2});
    check_reduction(row, {3, 4, 5}, numbers({}), {});
    check_reduction(row, {2, 3, 2, 5}, numbers({1, 3}), {1, 3});
    check_reduction(row, {2, 3, 2, 5}, numbers({0, 2}), {0, 2});
    check_reduction(row, {2, 3, 2, 3, 2}, numbers({0, 1, 3}), {0, 1, 3});
    check_reduction(row, {1, 7}, numbers({0}), {0});
    check_reduction(row, {7}, numbers({0}), {0});
    check_reduction(row, {}, nil, {});
    check_reduction(row, {5, 67, 3}, numbers({1}), {1});
    check_reduction(row, {67, 33}, numbers({0}), {0});
    check_reduction(row, {33, 67}, numbers({1}), {1});
  }
}

static void reductions_over_one_axis() {
  for (const Row& row : kRows) {
    for (NSInteger axis = -3; axis < 3; ++axis) {
      Session session;
      const Array x = operand_of(row, {3, 4, 5});
      const Array y = session.run(row.over_axis(session.graph(), session.feed(x), axis));
      check::report_array(y, reduce(x, {axis < 0 ? axis + 3 : axis}, row.initial, row.combine), 2e-5, row.name,
                          __FILE__, __LINE__);
    }
  }
}

// 0 or 1 in the type of the operand.
static void reductions_of_truth() {
  for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeBool}) {
    const double two = type == MPSDataTypeBool ? 1 : 2;
    const Array x({2, 3, 2}, {0, 1, two, 1, 1, 1, 0, 0, 1, 0, two, two}, type);
    const Array all({2, 1, 2}, {0, 1, 0, 0}, type), any({2, 1, 2}, {1, 1, 1, 1}, type);
    const Array all_pairs({1, 3, 1}, {0, 0, 1}, type), any_rows({2, 3, 1}, {1, 1, 1, 0, 1, 1}, type);
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* t = session.feed(x);
    CHECK_ARRAY_WITHIN(0, session.run([g reductionAndWithTensor:t axis:1 name:nil]), all);
    CHECK_ARRAY_WITHIN(0, session.run([g reductionAndWithTensor:t axes:numbers({0, -1}) name:nil]), all_pairs);
    CHECK_ARRAY_WITHIN(0, session.run([g reductionOrWithTensor:t axis:1 name:nil]), any);
    CHECK_ARRAY_WITHIN(0, session.run([g reductionOrWithTensor:t axis:-1 name:nil]), any_rows);
    CHECK_ARRAY_WITHIN(0, session.run([g reductionOrWithTensor:t axes:numbers({2}) name:nil]), any_rows);
  }
}

static void reductions_that_keep_nan() {
  const Array x({2, 3}, {1, kNan, -kInfinity, 4, -2, 3});
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* t = session.feed(x);
  CHECK_ARRAY_WITHIN(0, session.run([g reductionMaximumPropagateNaNWithTensor:t axis:1 name:nil]),
                     Array({2, 1}, {kNan, 4}));
  CHECK_ARRAY_WITHIN(0, session.run([g reductionMinimumPropagateNaNWithTensor:t axis:1 name:nil]),
                     Array({2, 1}, {kNan, -2}));
  CHECK_ARRAY_WITHIN(0, session.run([g reductionMaximumPropagateNaNWithTensor:t axes:numbers({0}) name:nil]),
                     Array({1, 3}, {4, kNan, 3}));
  CHECK_ARRAY_WITHIN(0, session.run([g reductionMinimumPropagateNaNWithTensor:t axes:numbers({0}) name:nil]),
                     Array({1, 3}, {1, kNan, -kInfinity}));
}

static void reductions_of_integers() {
  for (const Row& row : kRows) {
    for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
      Session session;
      const Array x = random_integers({3, 5, 4}, -9, 9, type);
      Array expected = reduce(x, {1}, row.initial, row.combine);
      check::report_array(session.run(row.over_axes(session.graph(), session.feed(x), numbers({1}))), expected, 0,
                          row.name, __FILE__, __LINE__);
    }
  }
}

static void nan_is_skipped_by_comparing_reductions_only() {
  Session session;
  MPSGraph* graph = session.graph();
  MPSGraphTensor* x = session.feed(Array({2, 3}, {kNan, 5, -2, kNan, kNan, kNan}));
  CHECK_ARRAY(session.run([graph reductionMaximumWithTensor:x axis:1 name:nil]), Array({2, 1}, {5, -kInfinity}));
  CHECK_ARRAY(session.run([graph reductionMinimumWithTensor:x axis:1 name:nil]), Array({2, 1}, {-2, kInfinity}));
  CHECK_ARRAY(session.run([graph reductionSumWithTensor:x axis:1 name:nil]), Array({2, 1}, {kNan, kNan}));
  CHECK_ARRAY(session.run([graph reductionProductWithTensor:x axis:1 name:nil]), Array({2, 1}, {kNan, kNan}));
}

// The index of the best element along an axis: the first of equals, never a NaN, -1 when there is nothing
// else.
static Array arg_best(const Array& x, long axis, bool greatest) {
  Array best = reduce(x, {axis}, 0, [](double, double) { return 0.0; }), at = best;
  std::fill(at.values.begin(), at.values.end(), -1);
  at.type = MPSDataTypeInt32;
  for_each_index(x.shape, [&](const Index& i) {
    const double v = x.at(i);
    const Index to = reduced_index(i, {axis});
    const bool wins = at.at(to) < 0 ? !std::isnan(v) : greatest ? v > best.at(to) : v < best.at(to);
    if (!wins) return;
    best.at(to) = v;
    at.at(to) = static_cast<double>(i.at(static_cast<size_t>(axis)));
  });
  return at;
}

static void arguments_of_the_best() {
  for (const Shape& shape : {Shape{3, 4, 5}, Shape{2, 37}, Shape{5, 1, 19}}) {
    const long rank = static_cast<long>(shape.size());
    for (long axis = -rank; axis < rank; ++axis) {
      const long counted = axis < 0 ? axis + rank : axis;
      for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32}) {
        Session session;
        MPSGraphTensor* x = session.feed(random_integers(shape, -2, 2, type));  // full of ties
        const Array values = read_array([session.feeds() objectForKey:x]);
        CHECK_ARRAY_WITHIN(0, session.run([session.graph() reductionArgMaximumWithTensor:x axis:axis name:nil]),
                           arg_best(values, counted, true));
        CHECK_ARRAY_WITHIN(0, session.run([session.graph() reductionArgMinimumWithTensor:x axis:axis name:nil]),
                           arg_best(values, counted, false));
      }
    }
  }
  Session session;
  const Array x({3, 4}, {kNan, 2, 7, 2, 3, kNan, 3, 1, kNan, kNan, kNan, kNan});
  MPSGraphTensor* tensor = session.feed(x);
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() reductionArgMaximumWithTensor:tensor axis:1 name:nil]),
                     Array({3, 1}, {2, 0, -1}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() reductionArgMinimumWithTensor:tensor axis:1 name:nil]),
                     Array({3, 1}, {1, 3, -1}, MPSDataTypeInt32));
}

static void gradients_of_sum_and_product() {
  const Array x = signed_array({3, 4, 5}, 0.5, 1.5), weights = random_array({3, 1, 5}, 0.5, 2);
  const Build sum = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g reductionSumWithTensor:t.at(0) axis:1 name:nil];
  };
  CHECK_ARRAY(Differentiated(sum, {x}, weights).gradients.at(0), map(x, weights, [](double, double w) { return w; }));
  // With zeros: one in a group leaves a gradient at the zero alone, two leave none.
  Array holed = x;
  holed.at({0, 1, 2}) = 0;
  holed.at({2, 0, 3}) = 0;
  holed.at({2, 3, 3}) = 0;
  Array expected(x.shape);
  for_each_index(x.shape, [&](const Index& i) {
    double others = weights.at({i.at(0), 0, i.at(2)});
    for (long j = 0; j < 4; ++j) others *= j == i.at(1) ? 1 : holed.at({i.at(0), j, i.at(2)});
    expected.at(i) = others;
  });
  const Build product = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g reductionProductWithTensor:t.at(0) axis:1 name:nil];
  };
  CHECK_ARRAY(Differentiated(product, {holed}, weights).gradients.at(0), expected);
}

static void gradients_of_maximum_and_minimum() {
  const Array x = distinct_array({3, 4, 5}), weights = random_array({1, 4, 1}, 0.5, 2);
  for (bool greatest : {true, false}) {
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return greatest ? [g reductionMaximumWithTensor:t.at(0) axes:numbers({0, 2}) name:nil]
                      : [g reductionMinimumWithTensor:t.at(0) axes:numbers({0, 2}) name:nil];
    };
    const Array best = reduce(x, {0, 2}, greatest ? -kInfinity : kInfinity,
                              [&](double a, double b) { return greatest ? std::fmax(a, b) : std::fmin(a, b); });
    Array expected(x.shape);
    for_each_index(x.shape, [&](const Index& i) {
      expected.at(i) = x.at(i) == best.at({0, i.at(1), 0}) ? weights.at({0, i.at(1), 0}) : 0;
    });
    CHECK_ARRAY(Differentiated(build, {x}, weights).gradients.at(0), expected);
#ifndef __APPLE__
    // Our choice: equals share the gradient.
    const Array tied({1, 1, 4}, {3, 3, 1, 1});
    const Array share = Differentiated(build, {tied}, Array({1, 1, 1}, 4.0)).gradients.at(0);
    CHECK_ARRAY(share, Array({1, 1, 4}, greatest ? std::vector<double>{2, 2, 0, 0} : std::vector<double>{0, 0, 2, 2}));
#endif
  }
}

int main() {
  @autoreleasepool {
    reductions_over_axes();
    reductions_over_one_axis();
    reductions_of_integers();
    reductions_of_truth();
    reductions_that_keep_nan();
    nan_is_skipped_by_comparing_reductions_only();
    arguments_of_the_best();
    gradients_of_sum_and_product();
    gradients_of_maximum_and_minimum();
  }
  return check::summary();
}
