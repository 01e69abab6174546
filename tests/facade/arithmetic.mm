// Elementwise arithmetic: values, types, broadcasting, special numbers and derivatives of every op.

#include "graph_testing.h"

using Number = double (*)(double);
using Number2 = double (*)(double, double);

struct UnaryRow {
  const char* name;
  MPSGraphTensor* (*call)(MPSGraph*, MPSGraphTensor*);
  double low, high;  // magnitudes of the operand; both signs where low is negative
  Number value;
  Number derivative;  // null: no gradient flows
};

#define UNARY(...) #__VA_ARGS__, [](MPSGraph* g, MPSGraphTensor* x) { return __VA_ARGS__; }
#define NUMBER(...) [](double x) -> double { return __VA_ARGS__; }

static const UnaryRow kUnary[] = {
    {UNARY([g identityWithTensor:x name:nil]), -2, 2, NUMBER(x), NUMBER(0 * x + 1)},
    {UNARY([g exponentWithTensor:x name:nil]), -2, 2, NUMBER(std::exp(x)), NUMBER(std::exp(x))},
    {UNARY([g logarithmWithTensor:x name:nil]), 0.5, 3, NUMBER(std::log(x)), NUMBER(1 / x)},
    {UNARY([g squareWithTensor:x name:nil]), -2, 2, NUMBER(x * x), NUMBER(2 * x)},
    {UNARY([g squareRootWithTensor:x name:nil]), 0.5, 3, NUMBER(std::sqrt(x)), NUMBER(0.5 / std::sqrt(x))},
    {UNARY([g reverseSquareRootWithTensor:x name:nil]), 0.5, 3, NUMBER(1 / std::sqrt(x)),
     NUMBER(-0.5 / (x * std::sqrt(x)))},
    {UNARY([g reciprocalWithTensor:x name:nil]), 0.5, 3, NUMBER(1 / x), NUMBER(-1 / (x * x))},
    {UNARY([g absoluteWithTensor:x name:nil]), -2, 2, NUMBER(std::fabs(x)), NUMBER(x > 0 ? 1 : -1)},
    {UNARY([g negativeWithTensor:x name:nil]), -2, 2, NUMBER(-x), NUMBER(0 * x - 1)},
    {UNARY([g signWithTensor:x name:nil]), -2, 2, NUMBER((x > 0) - (x < 0)), nullptr},
    {UNARY([g tanhWithTensor:x name:nil]), -2, 2, NUMBER(std::tanh(x)), NUMBER(1 - std::tanh(x) * std::tanh(x))},
};

static Array operand_of(const UnaryRow& row, const Shape& shape) {
  return row.low < 0 ? signed_array(shape, 0.125, row.high) : random_array(shape, row.low, row.high);
}

static void unary_ops() {
  for (const UnaryRow& row : kUnary) {
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{1}, Shape{}, Shape{2, 4099}}) {
      Session session;
      const Array x = operand_of(row, shape);
      const Array y = session.run(row.call(session.graph(), session.feed(x)));
      check::report_array(y, map(x, row.value), 1e-5, row.name, __FILE__, __LINE__);
    }
    if (row.derivative == nullptr) continue;
    const Array x = operand_of(row, {3, 5, 2});
    const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& operands) {
      return row.call(graph, operands.at(0));
    };
    const Differentiated graph(build, {x});
    const Array expected = map(graph.weights, map(x, row.derivative), [](double w, double d) { return w * d; });
    check::report_array(graph.gradients.at(0), expected, 2e-5, row.name, __FILE__, __LINE__);
    check::report_gradients(build, {x}, 1e-3, row.name, __FILE__, __LINE__);
  }
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
static void the_newer_name_of_the_reciprocal_root() {
  if (![MPSGraph instancesRespondToSelector:@selector(reciprocalSquareRootWithTensor:name:)]) return;
  Session session;
  const Array x = random_array({3, 5}, 0.5, 3);
  CHECK_ARRAY(session.run([session.graph() reciprocalSquareRootWithTensor:session.feed(x) name:nil]),
              map(x, NUMBER(1 / std::sqrt(x))));
}
#endif

static void unary_ops_of_integers() {
  const std::pair<MPSGraphTensor* (*)(MPSGraph*, MPSGraphTensor*), Number> rows[] = {
      {[](MPSGraph* g, MPSGraphTensor* x) { return [g identityWithTensor:x name:nil]; }, NUMBER(x)},
      {[](MPSGraph* g, MPSGraphTensor* x) { return [g squareWithTensor:x name:nil]; }, NUMBER(x * x)},
      {[](MPSGraph* g, MPSGraphTensor* x) { return [g absoluteWithTensor:x name:nil]; }, NUMBER(std::fabs(x))},
      {[](MPSGraph* g, MPSGraphTensor* x) { return [g negativeWithTensor:x name:nil]; }, NUMBER(-x)},
      {[](MPSGraph* g, MPSGraphTensor* x) { return [g signWithTensor:x name:nil]; }, NUMBER((x > 0) - (x < 0))},
  };
  for (const auto& [call, value] : rows) {
    for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
      Session session;
      const long most = type == MPSDataTypeInt64 ? 90000000 : 46340;
      const Array x = random_integers({3, 11}, -most, most, type);
      CHECK_ARRAY_WITHIN(0, session.run(call(session.graph(), session.feed(x))), map(x, value));
    }
  }
  Session session;
  const Array flags = random_integers({9}, 0, 1, MPSDataTypeBool);
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() identityWithTensor:session.feed(flags) name:nil]), flags);
}

struct BinaryRow {
  const char* name;
  MPSGraphTensor* (*call)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*);
  bool positive_base;  // the first operand has to be above 0
  Number2 value;
  Number2 derivative_a, derivative_b;
};

#define BINARY(...) #__VA_ARGS__, [](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) { return __VA_ARGS__; }
#define NUMBER2(...) []([[maybe_unused]] double a, [[maybe_unused]] double b) -> double { return __VA_ARGS__; }

static const BinaryRow kBinary[] = {
    {BINARY([g additionWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a + b), NUMBER2(1), NUMBER2(1)},
    {BINARY([g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a - b), NUMBER2(1),
     NUMBER2(-1)},
    {BINARY([g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a * b), NUMBER2(b),
     NUMBER2(a)},
    {BINARY([g divisionWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a / b), NUMBER2(1 / b),
     NUMBER2(-a / (b * b))},
    {BINARY([g divisionNoNaNWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a / b), NUMBER2(1 / b),
     NUMBER2(-a / (b * b))},
    {BINARY([g powerWithPrimaryTensor:a secondaryTensor:b name:nil]), true, NUMBER2(std::pow(a, b)),
     NUMBER2(b * std::pow(a, b - 1)), NUMBER2(std::pow(a, b) * std::log(a))},
    {BINARY([g minimumWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(std::fmin(a, b)), NUMBER2(a < b),
     NUMBER2(b < a)},
    {BINARY([g maximumWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(std::fmax(a, b)), NUMBER2(a > b),
     NUMBER2(b > a)},
};

// The first operand has multiples of 1/8, the second odd multiples of 1/16 away from 0, so that no two are
// near.
static std::pair<Array, Array> operands_of(const BinaryRow& row, const Shape& shape_a, const Shape& shape_b) {
  if (row.positive_base) return {random_array(shape_a, 0.5, 2), signed_array(shape_b, 0.5, 2)};
  return {map(distinct_array(shape_a), NUMBER(x / 2)),
          map(distinct_array(shape_b), NUMBER(x / 2 + (x < 0 ? -0.4375 : 0.5625)))};
}

static void binary_ops() {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 5, 2}, {3, 5, 2}}, {{3, 1, 4}, {5, 1}},  {{7}, {2, 3, 7}},
      {{2, 3, 7}, {7}},       {{4, 3}, {}},         {{}, {4, 3}},
      {{1, 5}, {6, 1}},       {{257, 1}, {1, 131}}, {{2, 1, 3, 1}, {1, 4, 1, 5}},
  };
  for (const BinaryRow& row : kBinary) {
    for (const auto& [shape_a, shape_b] : shapes) {
      Session session;
      const auto [a, b] = operands_of(row, shape_a, shape_b);
      const Array y = session.run(row.call(session.graph(), session.feed(a), session.feed(b)));
      check::report_array(y, map(a, b, row.value), 1e-5, row.name, __FILE__, __LINE__);
      if (element_count(y.shape) > 200) continue;
      const Build build = [&row](MPSGraph* graph, const std::vector<MPSGraphTensor*>& operands) {
        return row.call(graph, operands.at(0), operands.at(1));
      };
      const Differentiated graph(build, {a, b});
      auto times = NUMBER2(a * b);
      check::report_array(graph.gradients.at(0),
                          sum_to(map(graph.weights, map(a, b, row.derivative_a), times), a.shape), 5e-5, row.name,
                          __FILE__, __LINE__);
      check::report_array(graph.gradients.at(1),
                          sum_to(map(graph.weights, map(a, b, row.derivative_b), times), b.shape), 5e-5, row.name,
                          __FILE__, __LINE__);
      check::report_gradients(build, {a, b}, 1e-3, row.name, __FILE__, __LINE__);
    }
  }
}

// A bool, the result of a comparison, counts as 0 or 1 of the other operand's type; gradients flow to the number.
static void numbers_with_bools() {
  const Array flags = random_integers({4, 5}, 0, 1, MPSDataTypeBool);
  for (const BinaryRow& row : kBinary) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64}) {
      // Quotients by 0 and powers of negative numbers have tests of their own.
      const bool divides = std::string(row.name).find("division") != std::string::npos;
      if (divides && type != MPSDataTypeFloat32) continue;
      const Array x = type == MPSDataTypeFloat32 ? random_array({5}, 0.5, 2) : random_integers({5}, 1, 9, type);
      Session session;
      MPSGraphTensor *tx = session.feed(x), *tflags = session.feed(flags);
      const Array as_numbers(flags.shape, flags.values, type);
      check::report_array(session.run(row.call(session.graph(), tflags, tx)), map(as_numbers, x, row.value), 1e-5,
                          row.name, __FILE__, __LINE__);
      if (divides) continue;
      check::report_array(session.run(row.call(session.graph(), tx, tflags)),
                          map(x, as_numbers, [&](double a, double b) { return row.value(a, b); }), 1e-5, row.name,
                          __FILE__, __LINE__);
    }
  }
  const Array x = distinct_array({4, 5});
  const Build rectified = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    MPSGraphTensor* zero = [g constantWithScalar:0 dataType:MPSDataTypeFloat32];
    return [g multiplicationWithPrimaryTensor:[g greaterThanWithPrimaryTensor:t.at(0) secondaryTensor:zero name:nil]
                              secondaryTensor:t.at(0)
                                         name:nil];
  };
  const Array dy = random_array({4, 5});
#ifndef __APPLE__
  CHECK_ARRAY(Differentiated(rectified, {x}, dy).gradients.at(0), map(x, dy, NUMBER2(a > 0 ? b : 0)));
#endif
}

static void one_tensor_as_both_operands() {
  for (const BinaryRow& row : kBinary) {
    Session session;
    const Array x = random_array({3, 5}, 0.5, 2);
    MPSGraphTensor* tensor = session.feed(x);
    check::report_array(session.run(row.call(session.graph(), tensor, tensor)), map(x, x, row.value), 1e-5, row.name,
                        __FILE__, __LINE__);
  }
}

static void binary_ops_of_integers() {
  const std::pair<MPSGraphTensor* (*)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*), Number2> rows[] = {
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(a + b)},
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(a - b)},
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(a * b)},
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g divisionWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(std::trunc(a / b))},
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g minimumWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(std::fmin(a, b))},
      {[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
         return [g maximumWithPrimaryTensor:a secondaryTensor:b name:nil];
       },
       NUMBER2(std::fmax(a, b))},
  };
  for (const auto& [call, value] : rows) {
    for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
      Session session;
      const long most = type == MPSDataTypeInt64 ? 90000000 : 40000;
      const Array a = random_integers({3, 1, 7}, -most, most, type);
      Array b = random_integers({5, 1}, 1, 37, type);
      for (size_t i = 0; i < b.values.size(); i += 2) b.values.at(i) = -b.values.at(i);
      CHECK_ARRAY_WITHIN(0, session.run(call(session.graph(), session.feed(a), session.feed(b))), map(a, b, value));
    }
  }
  Session session;
  const Array base({4}, {2, 3, -2, 7}, MPSDataTypeInt32), exponent({4}, {10, 4, 3, 0}, MPSDataTypeInt32);
  CHECK_ARRAY_WITHIN(0,
                     session.run([session.graph() powerWithPrimaryTensor:session.feed(base)
                                                         secondaryTensor:session.feed(exponent)
                                                                    name:nil]),
                     Array({4}, {1024, 81, -8, 1}, MPSDataTypeInt32));
}

static const BinaryRow kComparisons[] = {
    {BINARY([g equalWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a == b), nullptr, nullptr},
    {BINARY([g notEqualWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a != b), nullptr, nullptr},
    {BINARY([g lessThanWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a < b), nullptr, nullptr},
    {BINARY([g lessThanOrEqualToWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a <= b), nullptr,
     nullptr},
    {BINARY([g greaterThanWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a > b), nullptr, nullptr},
    {BINARY([g greaterThanOrEqualToWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a >= b), nullptr,
     nullptr},
};

static void comparisons() {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Array specials({6}, {nan, infinity, -infinity, 0, -0.0, 1});
  for (const BinaryRow& row : kComparisons) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64}) {
      Session session;
      const Array a = random_integers({3, 1, 7}, -2, 2, type), b = random_integers({5, 1}, -2, 2, type);
      Array expected = map(a, b, row.value);
      expected.type = MPSDataTypeBool;
      check::report_array(session.run(row.call(session.graph(), session.feed(a), session.feed(b))), expected, 0,
                          row.name, __FILE__, __LINE__);
    }
    Session session;
    const Array column({6, 1}, specials.values);
    Array expected = map(specials, column, row.value);
    expected.type = MPSDataTypeBool;
    check::report_array(session.run(row.call(session.graph(), session.feed(specials), session.feed(column))), expected,
                        0, row.name, __FILE__, __LINE__);
  }
  Session session;
  const Array a({4}, {0, 1, 0, 1}, MPSDataTypeBool), b({4}, {0, 0, 1, 1}, MPSDataTypeBool);
  MPSGraphTensor *ta = session.feed(a), *tb = session.feed(b);
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() equalWithPrimaryTensor:ta secondaryTensor:tb name:nil]),
                     Array({4}, {1, 0, 0, 1}, MPSDataTypeBool));
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() notEqualWithPrimaryTensor:ta secondaryTensor:tb name:nil]),
                     Array({4}, {0, 1, 1, 0}, MPSDataTypeBool));
}

// Of numbers that are fed, and of those that a quotient gives.
static void tests_of_numbers() {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const UnaryRow rows[] = {
      {UNARY([g isNaNWithTensor:x name:nil]), 0, 0, NUMBER(std::isnan(x)), nullptr},
      {UNARY([g isInfiniteWithTensor:x name:nil]), 0, 0, NUMBER(std::isinf(x)), nullptr},
      {UNARY([g isFiniteWithTensor:x name:nil]), 0, 0, NUMBER(std::isfinite(x)), nullptr},
  };
  const Array specials({9}, {nan, -nan, infinity, -infinity, 0, -0.0, 1, -2.5, 3e38});
  const Array over({4}, {0, 1, -1, 1}), under({4}, {0, 0, 0, 2});
  for (const UnaryRow& row : rows) {
    Session session;
    MPSGraph* graph = session.graph();
    Array expected = map(specials, row.value);
    expected.type = MPSDataTypeBool;
    check::report_array(session.run(row.call(graph, session.feed(specials))), expected, 0, row.name, __FILE__,
                        __LINE__);
    MPSGraphTensor* quotient = [graph divisionWithPrimaryTensor:session.feed(over)
                                                secondaryTensor:session.feed(under)
                                                           name:nil];
    expected = map(Array({4}, {nan, infinity, -infinity, 0.5}), row.value);
    expected.type = MPSDataTypeBool;
    check::report_array(session.run(row.call(graph, quotient)), expected, 0, row.name, __FILE__, __LINE__);
  }
}

static void logic() {
  const BinaryRow rows[] = {
      {BINARY([g logicalANDWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a && b), nullptr, nullptr},
      {BINARY([g logicalORWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a || b), nullptr, nullptr},
      {BINARY([g logicalXORWithPrimaryTensor:a secondaryTensor:b name:nil]), false, NUMBER2(a != b), nullptr, nullptr},
  };
  for (const BinaryRow& row : rows) {
    Session session;
    const Array a = random_integers({3, 1, 7}, 0, 1, MPSDataTypeBool),
                b = random_integers({5, 1}, 0, 1, MPSDataTypeBool);
    Array expected = map(a, b, row.value);
    expected.type = MPSDataTypeBool;
    check::report_array(session.run(row.call(session.graph(), session.feed(a), session.feed(b))), expected, 0, row.name,
                        __FILE__, __LINE__);
  }
  Session session;
  const Array flags({3}, {0, 1, 1}, MPSDataTypeBool);
  CHECK_ARRAY_WITHIN(0, session.run([session.graph() notWithTensor:session.feed(flags) name:nil]),
                     Array({3}, {1, 0, 0}, MPSDataTypeBool));
}

static MPSGraphTensor* build_select(MPSGraph* graph, MPSGraphTensor* predicate, MPSGraphTensor* yes,
                                    MPSGraphTensor* no) {
  return [graph selectWithPredicateTensor:predicate truePredicateTensor:yes falsePredicateTensor:no name:nil];
}

static void select_takes_where_the_predicate_is_not_zero() {
  for (MPSDataType type : {MPSDataTypeBool, MPSDataTypeInt32, MPSDataTypeFloat32}) {
    Session session;
    const Array predicate =
        type == MPSDataTypeBool ? random_integers({3, 1, 5}, 0, 1, type) : random_integers({3, 1, 5}, -1, 1, type);
    const Array yes = random_array({4, 1}), no = random_array({3, 1, 1});
    Array expected({3, 4, 5});
    for_each_index(expected.shape, [&](const Index& i) {
      expected.at(i) = broadcast_at(predicate, i) != 0 ? broadcast_at(yes, i) : broadcast_at(no, i);
    });
    CHECK_ARRAY_WITHIN(
        0, session.run(build_select(session.graph(), session.feed(predicate), session.feed(yes), session.feed(no))),
        expected);
    const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& x) {
      return build_select(graph, constant(graph, predicate), x.at(0), x.at(1));
    };
    const Differentiated graph(build, {yes, no});
    Array flow_yes = graph.weights, flow_no = graph.weights;
    for_each_index(expected.shape,
                   [&](const Index& i) { (broadcast_at(predicate, i) != 0 ? flow_no : flow_yes).at(i) = 0; });
    CHECK_ARRAY(graph.gradients.at(0), sum_to(flow_yes, yes.shape));
    CHECK_ARRAY(graph.gradients.at(1), sum_to(flow_no, no.shape));
    CHECK_GRADIENTS(build, {yes, no});
  }
  Session session;
  const Array flags({2}, {1, 0}, MPSDataTypeBool), yes({2}, {7, 8}, MPSDataTypeInt64),
      no({2}, {-1, -2}, MPSDataTypeInt64);
  CHECK_ARRAY_WITHIN(
      0, session.run(build_select(session.graph(), session.feed(flags), session.feed(yes), session.feed(no))),
      Array({2}, {7, -2}, MPSDataTypeInt64));
}

static void clamp_holds_between_two_tensors() {
  Session session;
  const Array x = map(distinct_array({3, 4, 5}), NUMBER(x / 2 + 0.0625));
  const Array low = map(distinct_array({4, 1}), NUMBER(x / 2 - 0.5)),
              high = map(distinct_array({5}), NUMBER(x / 2 + 0.75));
  Array expected(x.shape), below(x.shape), above(x.shape), inside(x.shape);
  for_each_index(x.shape, [&](const Index& i) {
    const double l = broadcast_at(low, i), h = broadcast_at(high, i), v = x.at(i);
    below.at(i) = v < l;
    above.at(i) = v > h;
    inside.at(i) = v >= l && v <= h;
    expected.at(i) = v < l ? l : v > h ? h : v;
  });
  const Build build = [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph clampWithTensor:t.at(0) minValueTensor:t.at(1) maxValueTensor:t.at(2) name:nil];
  };
  const std::vector<MPSGraphTensor*> fed = {session.feed(x), session.feed(low), session.feed(high)};
  CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), fed)), expected);
  const Differentiated graph(build, {x, low, high});
  auto times = NUMBER2(a * b);
  CHECK_ARRAY(graph.gradients.at(0), map(graph.weights, inside, times));
  CHECK_ARRAY(graph.gradients.at(1), sum_to(map(graph.weights, below, times), low.shape));
  CHECK_ARRAY(graph.gradients.at(2), sum_to(map(graph.weights, above, times), high.shape));
  CHECK_GRADIENTS(build, {x, low, high});
}

static void special_numbers() {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Session session;
  MPSGraph* graph = session.graph();
  MPSGraphTensor* a = session.feed(Array({6}, {nan, 1, nan, infinity, -infinity, 3}));
  MPSGraphTensor* b = session.feed(Array({6}, {1, nan, nan, 2, 2, infinity}));
  CHECK_ARRAY(session.run([graph minimumWithPrimaryTensor:a secondaryTensor:b name:nil]),
              Array({6}, {1, 1, nan, 2, -infinity, 3}));
  CHECK_ARRAY(session.run([graph maximumWithPrimaryTensor:a secondaryTensor:b name:nil]),
              Array({6}, {1, 1, nan, infinity, 2, infinity}));
  MPSGraphTensor* over = session.feed(Array({5}, {1, 0, -2, nan, 1}));
  MPSGraphTensor* zero = session.feed(Array({5}, {0, 0, 0, 0, nan}));
  CHECK_ARRAY(session.run([graph divisionNoNaNWithPrimaryTensor:over secondaryTensor:zero name:nil]),
              Array({5}, {0, 0, 0, 0, nan}));
  CHECK_ARRAY(session.run([graph divisionWithPrimaryTensor:over secondaryTensor:zero name:nil]),
              Array({5}, {infinity, nan, -infinity, nan, nan}));
  MPSGraphTensor* x = session.feed(Array({5}, {nan, infinity, -infinity, 0, -4}));
  CHECK_ARRAY(session.run([graph signWithTensor:x name:nil]), Array({5}, {0, 1, -1, 0, -1}));
  CHECK_ARRAY(session.run([graph absoluteWithTensor:x name:nil]), Array({5}, {nan, infinity, infinity, 0, 4}));
  CHECK_ARRAY(session.run([graph negativeWithTensor:x name:nil]), Array({5}, {nan, -infinity, infinity, 0, 4}));
  CHECK_ARRAY(session.run([graph exponentWithTensor:x name:nil]), Array({5}, {nan, infinity, 0, 1, std::exp(-4)}));
  CHECK_ARRAY(session.run([graph tanhWithTensor:x name:nil]), Array({5}, {nan, 1, -1, 0, std::tanh(-4)}));
  CHECK_ARRAY(session.run([graph logarithmWithTensor:x name:nil]), Array({5}, {nan, infinity, nan, -infinity, nan}));
  CHECK_ARRAY(session.run([graph squareRootWithTensor:x name:nil]), Array({5}, {nan, infinity, nan, 0, nan}));
  // The zeros of sign and of a copy keep their own sign.
  MPSGraphTensor* zeros = session.feed(Array({2}, {0.0, -0.0}));
  for (MPSGraphTensor* y : {[graph signWithTensor:zeros name:nil], [graph identityWithTensor:zeros name:nil]}) {
    const Array signs = session.run([graph reciprocalWithTensor:y name:nil]);
    CHECK(signs.values.at(0) == infinity && signs.values.at(1) == -infinity);
  }
}

#ifndef __APPLE__
// What Apple does not say and this framework has chosen: a tie shares the gradient, a kink has gradient 0.
static void gradients_at_ties_and_kinks() {
  const Array same({3}, {1, -2, 0});
  for (MPSGraphTensor *(*call)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*) :
       {+[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
          return [g minimumWithPrimaryTensor:a secondaryTensor:b name:nil];
        },
        +[](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
          return [g maximumWithPrimaryTensor:a secondaryTensor:b name:nil];
        }}) {
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& x) { return call(g, x.at(0), x.at(1)); };
    const Differentiated graph(build, {same, same}, Array({3}, {2, 4, 6}));
    CHECK_ARRAY(graph.gradients.at(0), Array({3}, {1, 2, 3}));
    CHECK_ARRAY(graph.gradients.at(1), Array({3}, {1, 2, 3}));
  }
  const Build absolute = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& x) {
    return [g absoluteWithTensor:x.at(0) name:nil];
  };
  CHECK_ARRAY(Differentiated(absolute, {same}, Array({3}, {2, 4, 6})).gradients.at(0), Array({3}, {2, -4, 0}));
  // A base of 0 gives the exponent no gradient, and x^0 none to x.
  const Build power = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& x) {
    return [g powerWithPrimaryTensor:x.at(0) secondaryTensor:x.at(1) name:nil];
  };
  const Differentiated graph(power, {Array({3}, {0, 0, -2}), Array({3}, {2, 0, 2})}, Array({3}, {1, 1, 1}));
  CHECK_ARRAY(graph.gradients.at(0), Array({3}, {0, 0, -4}));
  CHECK(graph.gradients.at(1).values.at(0) == 0);
}
#endif

int main() {
  @autoreleasepool {
    unary_ops();
#ifndef __APPLE__
    the_newer_name_of_the_reciprocal_root();
#endif
    unary_ops_of_integers();
    binary_ops();
    numbers_with_bools();
    one_tensor_as_both_operands();
    binary_ops_of_integers();
    comparisons();
    tests_of_numbers();
    logic();
    select_takes_where_the_predicate_is_not_zero();
    clamp_holds_between_two_tensors();
    special_numbers();
#ifndef __APPLE__
    gradients_at_ties_and_kinks();
#endif
  }
  return check::summary();
}
