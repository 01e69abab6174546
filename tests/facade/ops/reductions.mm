// Reductions by selectors that the engine does not send, and every form of axes. Those over given axes are in
// tests/python/ops/test_ops.py.

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
    {"maximum that keeps NaN", AXES([g reductionMaximumPropagateNaNWithTensor:x axes:axes name:nil]),
     AXIS([g reductionMaximumPropagateNaNWithTensor:x axis:axis name:nil]), -kInfinity,
     [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::fmax(a, b); }},
    {"minimum that keeps NaN", AXES([g reductionMinimumPropagateNaNWithTensor:x axes:axes name:nil]),
     AXIS([g reductionMinimumPropagateNaNWithTensor:x axis:axis name:nil]), kInfinity,
     [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::fmin(a, b); }},
};

static void check_reduction(const Row& row, const Shape& shape, NSArray<NSNumber*>* axes,
                            const std::vector<long>& counted) {
  Session session;
  const Array x = signed_array(shape, 0.75, 1.25);
  const Array y = session.run(row.over_axes(session.graph(), session.feed(x), axes));
  check::report_array(y, reduce(x, counted, row.initial, row.combine), 2e-5, row.name, __FILE__, __LINE__);
}

TEST(reductions_over_axes) {
  for (const Row& row : kRows) {
    check_reduction(row, {3, 4, 5}, numbers({-1}), {2});
    check_reduction(row, {3, 4, 5}, numbers({2, 0}), {0, 2});
    check_reduction(row, {3, 4, 5}, numbers({-3, 1}), {0, 1});
    check_reduction(row, {3, 4, 5}, numbers({1, 1, -2}), {1});
    check_reduction(row, {3, 4, 5}, nil, {0, 1, 2});
    check_reduction(row, {3, 4, 5}, numbers({}), {});
    check_reduction(row, {}, nil, {});
  }
}

TEST(reductions_over_one_axis) {
  for (const Row& row : kRows) {
    for (NSInteger axis = -3; axis < 3; ++axis) {
      Session session;
      Array x = signed_array({3, 4, 5}, 0.75, 1.25);
      x.at({1, 2, 3}) = kNan;
      const Array y = session.run(row.over_axis(session.graph(), session.feed(x), axis));
      check::report_array(y, reduce(x, {axis < 0 ? axis + 3 : axis}, row.initial, row.combine), 2e-5, row.name,
                          __FILE__, __LINE__);
    }
  }
}

// 0 or 1 in the type of the operand.
TEST(reductions_of_truth) {
  for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeBool}) {
    const double two = type == MPSDataTypeBool ? 1 : 2;
    const Array x({2, 3, 2}, {0, 1, two, 1, 1, 1, 0, 0, 1, 0, two, two}, type), all({2, 1, 2}, {0, 1, 0, 0}, type),
        any({2, 1, 2}, {1, 1, 1, 1}, type), all_pairs({1, 3, 1}, {0, 0, 1}, type),
        any_rows({2, 3, 1}, {1, 1, 1, 0, 1, 1}, type);
    CHECK_WAYS(x, all, WAY([g reductionAndWithTensor:x axis:1 name:nil]));
    CHECK_WAYS(x, all_pairs, WAY([g reductionAndWithTensor:x axes:numbers({0, -1}) name:nil]));
    CHECK_WAYS(x, any, WAY([g reductionOrWithTensor:x axis:1 name:nil]));
    CHECK_WAYS(x, any_rows, WAY([g reductionOrWithTensor:x axis:-1 name:nil]),
               WAY([g reductionOrWithTensor:x axes:numbers({2}) name:nil]));
  }
}

// The index of the best element along an axis: the first of equals.
static Array arg_best(const Array& x, long axis, bool greatest) {
  Array best = reduce(x, {axis}, greatest ? -kInfinity : kInfinity,
                      [&](double a, double b) { return greatest ? std::fmax(a, b) : std::fmin(a, b); });
  Array at = reduce(x, {axis}, -1, [](double a, double) { return a; });
  at.type = MPSDataTypeInt32;
  for_each_index(x.shape, [&](const Index& i) {
    const Index to = reduced_index(i, {axis});
    if (at.at(to) < 0 && x.at(i) == best.at(to)) at.at(to) = static_cast<double>(i.at(unsign(axis)));
  });
  return at;
}

TEST(arguments_of_the_best) {
  for (long axis = -3; axis < 3; ++axis) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32}) {
      const Array x = random_integers({3, 4, 19}, -2, 2, type);  // full of ties
      const long counted = axis < 0 ? axis + 3 : axis;
      CHECK_WAYS(x, arg_best(x, counted, true), WAY([g reductionArgMaximumWithTensor:x axis:axis name:nil]));
      CHECK_WAYS(x, arg_best(x, counted, false), WAY([g reductionArgMinimumWithTensor:x axis:axis name:nil]));
    }
  }
  // Never a NaN; -1 when there is nothing else.
  const Array x({3, 4}, {kNan, 2, 7, 2, 3, kNan, 3, 1, kNan, kNan, kNan, kNan});
  CHECK_WAYS(x, Array({3, 1}, {2, 0, -1}, MPSDataTypeInt32), WAY([g reductionArgMaximumWithTensor:x axis:1 name:nil]));
  CHECK_WAYS(x, Array({3, 1}, {1, 3, -1}, MPSDataTypeInt32), WAY([g reductionArgMinimumWithTensor:x axis:1 name:nil]));
}

int main(int count, char** arguments) { return check::run(count, arguments); }
