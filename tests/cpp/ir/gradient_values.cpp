// Tests the values of gradients: each rule, in double precision, against central differences of the op, with a seed
// that weights every element of the result differently.
#include <random>

#include "interpreter.h"
#include "ir/grammar.h"
#include "ir/transform/gradients.h"
#include "reference/table_rows.h"

namespace alloy::test {
namespace {

class Sampler {
 public:
  Array array(const Dims& dims, Domain domain) {
    Array out(dims);
    for (double& v : out.values) v = number(domain);
    return out;
  }
  double number(Domain domain) {
    const double t = std::uniform_real_distribution<double>(0.3, 2)(random_);
    const double sign = random_() % 2 == 0 ? 1 : -1;
    switch (domain) {
      case Domain::positive: return t;
      case Domain::nonzero: return sign * t;
      case Domain::unit: return sign * t * 0.45;
      case Domain::above_one: return t + 1;
      default: return std::uniform_real_distribution<double>(-2, 2)(random_);
    }
  }

 private:
  std::mt19937 random_{11};
};

// Compares the gradients of `y`, weighted by a random seed, with differences along every element of every target.
void check_gradients(Graph& graph, Value y, const std::vector<std::pair<Value, Array>>& feeds,
                     const std::vector<Value>& targets) {
  Sampler sampler;
  const Value seed = placeholder(graph, y.type());
  const Array weights = sampler.array(y.shape().dims(), Domain::real);
  const std::vector<Value> found = gradients(graph, y, targets, seed);
  ASSERT_EQ(verify(graph), std::vector<std::string>{});
  std::vector<std::pair<Value, Array>> all = feeds;
  all.emplace_back(seed, weights);
  auto weighted = [&](const std::vector<std::pair<Value, Array>>& given) {
    const Array out = Interpreter().run(given, {y}, {})[0];
    double sum = 0;
    for (size_t i = 0; i < out.size(); ++i) sum += out.values[i] * weights.values[i];
    return sum;
  };
  for (size_t t = 0; t < targets.size(); ++t) {
    ASSERT_TRUE(found[t]) << "target " << t;
    const Array gradient = Interpreter().run(all, {found[t]}, {})[0];
    ASSERT_EQ(gradient.dims, targets[t].shape().dims());
    for (size_t f = 0; f < feeds.size(); ++f) {
      if (feeds[f].first != targets[t]) continue;
      for (size_t i = 0; i < gradient.size(); ++i) {
        constexpr double h = 1e-5;
        auto moved = all;
        moved[f].second.values[i] += h;
        const double above = weighted(moved);
        moved[f].second.values[i] -= 2 * h;
        const double below = weighted(moved);
        EXPECT_NEAR(gradient.values[i], (above - below) / (2 * h), 1e-6 * (1 + std::fabs(gradient.values[i])))
            << "target " << t << ", element " << i;
      }
    }
  }
}

// Tests an op over operands of these shapes; `targets` get gradients, the other operands are constant.
void check_op(OpCode code, const std::vector<Dims>& shapes, Attributes attributes = {}, Domain domain = Domain::real,
              std::vector<size_t> of = {}) {
  SCOPED_TRACE(info(code).name);
  Sampler sampler;
  Graph graph;
  std::vector<std::pair<Value, Array>> feeds;
  std::vector<Value> operands, targets;
  for (const Dims& dims : shapes) {
    operands.push_back(placeholder(graph, f32(Shape(dims))));
    feeds.emplace_back(operands.back(), sampler.array(dims, domain));
  }
  if (of.empty()) targets = operands;
  for (size_t i : of) targets.push_back(operands[i]);
  check_gradients(graph, graph.value(code, operands, std::move(attributes)), feeds, targets);
}

// Every op that has a gradient, to each of its operands that has a slope.
TEST(GradientValues, OfEveryOp) {
  Graph whole;
  add_every_op(whole);
  Sampler sampler;
  size_t checked = 0;
  for (const auto& op : whole.body().ops) {
    if (op->results.empty() || !op->regions.empty() || op->code == OpCode::native || op->operands.empty() ||
        op->operands[0].op->code == OpCode::variable || kind(op->results[0].dtype) != DTypeKind::kFloating) {
      continue;
    }
    SCOPED_TRACE(op->info().name);
    Graph graph;
    std::vector<std::pair<Value, Array>> feeds;
    std::vector<Value> operands, targets;
    for (const Value& v : op->operands) {
      operands.push_back(placeholder(graph, v.type()));
      Array array = sampler.array(v.shape().dims(), op->info().domain);
      if (kind(v.dtype()) != DTypeKind::kFloating) {
        for (double& index : array.values) index = index > 0;
      }
      feeds.emplace_back(operands.back(), array);
    }
    const Value y = graph.value(op->code, operands, op->attributes);
    for (const Value& v : operands) {
      std::vector<Value> found(1);
      if (kind(v.dtype()) == DTypeKind::kFloating) error_of([&] { found = gradients(graph, y, {v}); });
      if (found[0] && !reference::is_without_gradient(op->code)) targets.push_back(v);
    }
    check_gradients(graph, y, feeds, targets);
    checked += !targets.empty();
  }
  EXPECT_GT(checked, 95);
}

TEST(GradientValues, TableOpsOfOtherShapes) {
  for (const OpInfo& row : op_table()) {
    if (reference::is_without_gradient(row.code)) continue;
    const Domain domain = row.domain;
    switch (row.family) {
      case Family::kBinary:
        check_op(row.code, {{2, 3}, {2, 3}}, {}, domain);
        check_op(row.code, {{}, {2, 1}}, {}, domain);
        check_op(row.code, {{2, 3}, {2, 3}}, {}, domain, {1});
        break;
      case Family::kReduction:
      case Family::kMoment:
        check_op(row.code, {{2, 3, 2}}, {{Attr::kAxes, Dims{1}}}, domain);
        check_op(row.code, {{2, 3, 2}}, {{Attr::kAxes, Dims{}}}, domain);
        break;
      default: break;
    }
  }
  check_op(OpCode::clamp, {{2, 3}, {3}, {2, 1}}, {}, Domain::real);
}

TEST(GradientValues, Select) {
  Graph graph;
  const Value p = placeholder(graph, bools({2, 1})), a = placeholder(graph, f32({3})),
              b = placeholder(graph, f32({2, 3}));
  Sampler sampler;
  check_gradients(
      graph, graph.value(OpCode::select, {p, a, b}),
      {{p, Array({2, 1}, {1, 0})}, {a, sampler.array({3}, Domain::real)}, {b, sampler.array({2, 3}, Domain::real)}},
      {a, b});
}

// At kinks the choice is documented: half for equal numbers, none at 0.
TEST(GradientValues, AtTiesAndKinks) {
  auto gradient_at = [](OpCode code, const std::vector<double>& a, const std::vector<double>& b, size_t of) {
    Graph graph;
    const int64_t n = static_cast<int64_t>(a.size());
    const Value x = placeholder(graph, f32({n})), y = placeholder(graph, f32({n}));
    const Value z = info(code).fewest_operands == 1 ? graph.value(code, {x}) : graph.value(code, {x, y});
    const Value found = gradients(graph, z, {of == 0 ? x : y})[0];
    return Interpreter().run({{x, Array({n}, a)}, {y, Array({n}, b)}}, {found}, {})[0].values;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(gradient_at(OpCode::minimum, {1, 2, 3}, {2, 2, 2}, 0), (Numbers{1, 0.5, 0}));
  EXPECT_EQ(gradient_at(OpCode::minimum, {1, 2, 3}, {2, 2, 2}, 1), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(gradient_at(OpCode::maximum, {1, 2, 3}, {2, 2, 2}, 0), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(gradient_at(OpCode::maximum, {1, 2, 3}, {2, 2, 2}, 1), (Numbers{1, 0.5, 0}));
  EXPECT_EQ(gradient_at(OpCode::relu, {-1, 0, 1}, {0, 0, 0}, 0), (Numbers{0, 0, 1}));
  EXPECT_EQ(gradient_at(OpCode::abs, {-1, 0, 1}, {0, 0, 0}, 0), (Numbers{-1, 0, 1}));
  EXPECT_EQ(gradient_at(OpCode::divide_no_nan, {3, 3}, {0, 2}, 0), (Numbers{0, 0.5}));
  EXPECT_EQ(gradient_at(OpCode::divide_no_nan, {3, 3}, {0, 2}, 1), (Numbers{0, -0.75}));
  // 0^0 = 1 and 0^1 = 0, and no gradient is infinite.
  EXPECT_EQ(gradient_at(OpCode::power, {0, 0, 0, 2}, {0, 1, 2, 0}, 0), (Numbers{0, 1, 0, 0}));
  EXPECT_EQ(gradient_at(OpCode::power, {0, 0, 1}, {1, 2, 5}, 1), (Numbers{0, 0, 0}));
}

TEST(GradientValues, ReductionsWithTiesAndZeros) {
  auto gradient_at = [](OpCode code, const Array& x) {
    Graph graph;
    const Value v = placeholder(graph, f32(Shape(x.dims)));
    const Value found = gradients(graph, graph.value(code, {v}, {{Attr::kAxes, Dims{1}}}), {v})[0];
    return Interpreter().run({{v, x}}, {found}, {})[0].values;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(gradient_at(OpCode::max, Array({2, 4}, {3, 1, 3, 2, 5, 5, 5, 5})),
            (Numbers{0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(gradient_at(OpCode::min, Array({1, 3}, {1, 1, 2})), (Numbers{0.5, 0.5, 0}));
  EXPECT_EQ(gradient_at(OpCode::product, Array({3, 3}, {2, 3, 4, 0, 3, 4, 0, 0, 4})),
            (Numbers{12, 8, 6, 12, 0, 0, 0, 0, 0}));
}

TEST(GradientValues, OfOtherShapes) {
  check_op(OpCode::squeeze, {{1, 3, 1}}, {{Attr::kAxes, Dims{0, -1}}});
  check_op(OpCode::transpose, {{2, 3, 4}}, {{Attr::kPermutation, Dims{1, 2, 0}}});
  check_op(OpCode::broadcast_to, {{3, 1}}, {{Attr::kShape, Shape({2, 3, 4})}});
  check_op(OpCode::slice, {{5, 4}}, slicing({1, INT64_MAX}, {5, INT64_MIN}, {2, -3}));
  check_op(OpCode::concat, {{2, 3}, {1, 3}}, {{Attr::kAxis, int64_t{0}}}, Domain::real, {1});
  check_op(OpCode::cast, {{2}}, {{Attr::kDtype, DType::float32}});
}

TEST(GradientValues, Matmul) {
  for (bool a : {false, true}) {
    for (bool b : {false, true}) {
      const Attributes flags{{Attr::kTransposeA, a}, {Attr::kTransposeB, b}};
      const Dims left = a ? Dims{4, 2} : Dims{2, 4}, right = b ? Dims{3, 4} : Dims{4, 3};
      check_op(OpCode::matmul, {left, right}, flags);
      check_op(OpCode::matmul, {left, right}, flags, Domain::real, {1});
    }
  }
  check_op(OpCode::matmul, {{2, 1, 2, 3}, {3, 3, 2}});
  check_op(OpCode::matmul, {{3, 2}, {2, 3, 4}}, {{Attr::kTransposeA, true}});
  check_op(OpCode::matmul, {{1, 1}, {1, 1}});
}

TEST(GradientValues, Softmax) {
  for (int64_t axis : {0, 1, -1}) {
    check_op(OpCode::softmax, {{2, 3}}, {{Attr::kAxis, axis}});
    check_op(OpCode::log_softmax, {{2, 3}}, {{Attr::kAxis, axis}});
    for (const char* reduction : {"none", "sum", "mean"}) {
      check_op(OpCode::softmax_cross_entropy, {{2, 3}, {2, 3}},
               {{Attr::kAxis, axis}, {Attr::kReduction, std::string(reduction)}});
    }
  }
  check_op(OpCode::softmax_cross_entropy, {{2, 3, 2}, {2, 3, 2}},
           {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("mean")}});
}

TEST(GradientValues, AcrossConditionals) {
  for (double taken : {1, 0}) {
    SCOPED_TRACE(taken);
    Graph graph;
    const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2, 3})),
                w = placeholder(graph, f32({3}));
    const Value h = graph.value(OpCode::tanh, {x});
    Op* op = if_else(
        graph, flag,
        [&] {
          const Value e = graph.value(OpCode::exp, {h});
          const Value p = graph.value(OpCode::multiply, {e, w});
          Op* inner = if_else(
              graph,
              graph.value(OpCode::cast, {graph.value(OpCode::sum, {h}, {{Attr::kAxes, Dims{0, 1}}})},
                          {{Attr::kDtype, DType::boolean}}),
              [&] { return std::vector{graph.value(OpCode::multiply, {p, e})}; },
              [&] { return std::vector{graph.value(OpCode::square, {e})}; });
          return std::vector{graph.value(OpCode::add, {{inner, 0}, graph.value(OpCode::multiply, {e, e})}), p};
        },
        [&] { return std::vector{graph.value(OpCode::square, {h}), x}; });
    const Value y = graph.value(OpCode::multiply, {graph.value(OpCode::add, {{op, 0}, {op, 1}}), h});
    Sampler sampler;
    check_gradients(
        graph, y,
        {{flag, Array({}, taken)}, {x, sampler.array({2, 3}, Domain::real)}, {w, sampler.array({3}, Domain::real)}},
        {x, w});
  }
}

Value integer(Graph& graph, double number) { return constant(graph, i32({}), number); }

Value row_of(Graph& graph, Value rows, Value index) {
  return graph.value(OpCode::gather, {rows, index}, {{Attr::kAxis, int64_t{0}}, {Attr::kBatchDims, int64_t{0}}});
}

TEST(GradientValues, Scatter) {
  for (const char* mode : {"set", "add", "subtract", "multiply", "divide", "minimum", "maximum"}) {
    SCOPED_TRACE(mode);
    Graph graph;
    const Value x = placeholder(graph, f32({4, 5})), updates = placeholder(graph, f32({4, 3})),
                places = placeholder(graph, i32({3}));
    const Value y = graph.value(OpCode::scatter, {x, updates, places},
                                {{Attr::kAxis, int64_t{1}}, {Attr::kMode, std::string(mode)}});
    Sampler sampler;
    check_gradients(graph, y,
                    {{x, sampler.array({4, 5}, Domain::real)},
                     {updates, sampler.array({4, 3}, Domain::real)},
                     {places, Array({3}, {3, 7, 0})}},  // one is outside
                    {x, updates});
  }
}

// Several updates of one position, and one outside.
TEST(GradientValues, TuplesOfIndices) {
  const Array tuples({5, 2}, {0, 1, 2, 3, 0, 1, 1, 4, 2, 0});
  const Attributes flat = {{Attr::kBatchDims, int64_t{0}}};
  Sampler sampler;
  for (const char* mode : {"gather", "zeros", "add", "subtract", "multiply", "divide", "minimum", "maximum"}) {
    SCOPED_TRACE(mode);
    Graph graph;
    const Value x = placeholder(graph, f32({3, 4, 2})), updates = placeholder(graph, f32({5, 2})),
                places = placeholder(graph, i32({5, 2}));
    const std::string word = mode;
    const Value y = word == "gather" ? graph.value(OpCode::gather_nd, {x, places}, flat)
                    : word == "zeros"
                        ? graph.value(OpCode::scatter_nd, {updates, places, x}, flat)
                        : graph.value(OpCode::scatter_nd_update, {x, updates, places}, with(flat, Attr::kMode, word));
    const std::vector<Value> targets = word == "gather"  ? std::vector{x}
                                       : word == "zeros" ? std::vector{updates}
                                                         : std::vector{x, updates};
    check_gradients(graph, y,
                    {{x, sampler.array({3, 4, 2}, Domain::nonzero)},
                     {updates, sampler.array({5, 2}, Domain::nonzero)},
                     {places, tuples}},
                    targets);
  }
}

// A zero among the updates of a position causes no division by zero.
TEST(GradientValues, ZerosAsFactors) {
  Graph graph;
  const Value x = placeholder(graph, f32({3})), updates = placeholder(graph, f32({5})),
              places = placeholder(graph, i32({5, 1}));
  const Value y = graph.value(OpCode::scatter_nd_update, {x, updates, places},
                              {{Attr::kBatchDims, int64_t{0}}, {Attr::kMode, std::string("multiply")}});
  check_gradients(
      graph, y,
      {{x, Array({3}, {2, -3, 0})}, {updates, Array({5}, {0, 4, 0, 0.5, 0})}, {places, Array({5, 1}, {0, 0, 1, 2, 1})}},
      {x, updates});
}

TEST(GradientValues, Accumulate) {
  for (const char* operation : {"sum", "product", "minimum", "maximum"}) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(std::string(operation) + (reverse ? ", reverse" : ""));
      check_op(OpCode::accumulate, {{2, 5, 3}},
               {{Attr::kAxis, int64_t{1}}, {Attr::kOperation, std::string(operation)}, {Attr::kReverse, reverse}});
    }
  }
  for (const bool reverse : {false, true}) {
    for (const std::vector<double>& zeros : {std::vector<double>{2, 0, 3, -1, 0}, {0, 5, 0, 0, 2}, {1, 2, 3, 4, 0}}) {
      Graph graph;
      const Value x = placeholder(graph, f32({5}));
      const Value y = graph.value(
          OpCode::accumulate, {x},
          {{Attr::kAxis, int64_t{0}}, {Attr::kOperation, std::string("product")}, {Attr::kReverse, reverse}});
      check_gradients(graph, y, {{x, Array({5}, zeros)}}, {x});
    }
  }
}

// Carried values, captured values, slices, and stacked values; values change places on the way.
TEST(GradientValues, AcrossCountedLoops) {
  Graph graph;
  const Value xs = placeholder(graph, f32({7, 2, 3})), h = placeholder(graph, f32({2, 3})),
              w = placeholder(graph, f32({3, 3}));
  Op* loop = for_loop(
      graph, {integer(graph, 1), integer(graph, 7), integer(graph, 2)}, {h, h}, [&](const std::vector<Value>& a) {
        const Value x = row_of(graph, xs, a[0]);
        const Value next =
            graph.value(OpCode::tanh, {graph.value(OpCode::add, {x, graph.value(OpCode::matmul, {a[1], w})})});
        return std::vector{graph.value(OpCode::multiply, {next, a[2]}), a[1], next, a[2]};
      });
  const Value sums = graph.value(OpCode::sum, {graph.value(OpCode::square, {{loop, 2}})}, {{Attr::kAxes, Dims{0}}});
  const Value more = graph.value(OpCode::sum, {graph.value(OpCode::exp, {{loop, 3}})}, {{Attr::kAxes, Dims{0}}});
  const Value y = graph.value(
      OpCode::add, {graph.value(OpCode::add, {{loop, 0}, {loop, 1}}), graph.value(OpCode::add, {sums, more})});
  EXPECT_EQ(Value({loop, 2}).shape(), Shape({3, 2, 3}));
  Sampler sampler;
  check_gradients(graph, y,
                  {{xs, sampler.array({7, 2, 3}, Domain::real)},
                   {h, sampler.array({2, 3}, Domain::real)},
                   {w, sampler.array({3, 3}, Domain::real)}},
                  {xs, h, w});
}

// A loop in a branch in a loop that also carries an integer.
TEST(GradientValues, AcrossNestedLoopsAndConditionals) {
  Graph graph;
  const Value x = placeholder(graph, f32({3})), w = placeholder(graph, f32({3})),
              rows = placeholder(graph, f32({2, 3}));
  const Value zero = integer(graph, 0), one = integer(graph, 1), two = integer(graph, 2);
  Op* outer = for_loop(graph, {zero, integer(graph, 3), one}, {x, zero}, [&](const std::vector<Value>& a) {
    const Value h = graph.value(OpCode::tanh, {a[1]});
    Op* branch = if_else(
        graph, graph.value(OpCode::equal, {a[0], one}),
        [&] {
          Op* inner = for_loop(graph, {zero, two, one}, {h}, [&](const std::vector<Value>& b) {
            const Value scaled = graph.value(OpCode::multiply, {b[1], w});
            return std::vector{graph.value(OpCode::add, {scaled, row_of(graph, rows, b[0])}), scaled};
          });
          const Value all = row_of(graph, {inner, 1}, one);
          return std::vector{graph.value(OpCode::multiply, {{inner, 0}, all})};
        },
        [&] { return std::vector{graph.value(OpCode::add, {h, a[1]})}; });
    return std::vector{Value{branch, 0}, graph.value(OpCode::add, {a[2], one})};
  });
  Sampler sampler;
  check_gradients(graph, {outer, 0},
                  {{x, sampler.array({3}, Domain::real)},
                   {w, sampler.array({3}, Domain::real)},
                   {rows, sampler.array({2, 3}, Domain::real)}},
                  {x, w, rows});
}

TEST(GradientValues, OfALoopInABranch) {
  for (double taken : {1, 0}) {
    SCOPED_TRACE(taken);
    Graph graph;
    const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({3}));
    Op* branch = if_else(
        graph, flag,
        [&] {
          const Value e = graph.value(OpCode::exp, {x});
          Op* loop = for_loop(
              graph, {integer(graph, 0), integer(graph, 3), integer(graph, 1)}, {e}, [&](const std::vector<Value>& a) {
                return std::vector{graph.value(OpCode::tanh, {graph.value(OpCode::multiply, {a[1], e})})};
              });
          return std::vector{Value{loop, 0}};
        },
        [&] { return std::vector{x}; });
    check_gradients(graph, {branch, 0}, {{flag, Array({}, taken)}, {x, Array({3}, {0.2, -0.5, 0.9})}}, {x});
  }
}

// A variable that each iteration reads again is stacked: computed again, it would have another value.
TEST(GradientValues, OfALoopThatReadsWhatItAssigns) {
  Graph graph;
  const Value v = variable(graph, f32({2}), 0.5), x = placeholder(graph, f32({2}));
  Op* loop =
      for_loop(graph, {integer(graph, 0), integer(graph, 3), integer(graph, 1)}, {x}, [&](const std::vector<Value>& a) {
        const Value seen = read(graph, v);
        assign(graph, v, graph.value(OpCode::add, {seen, seen}));
        return std::vector{graph.value(OpCode::tanh, {graph.value(OpCode::multiply, {a[1], seen})})};
      });
  const Value gradient = gradients(graph, {loop, 0}, {x})[0];
  const std::vector<Array> got = Interpreter().run({{x, Array({2}, {0.3, -0.7})}}, {{loop, 0}, gradient}, {loop});
  for (size_t i = 0; i < 2; ++i) {
    double h = i == 0 ? 0.3 : -0.7, slope = 1, factor = 0.5;
    for (int k = 0; k < 3; ++k, factor *= 2) {
      h = std::tanh(h * factor);
      slope *= factor * (1 - h * h);
    }
    EXPECT_NEAR(got[0].values[i], h, 1e-12);
    EXPECT_NEAR(got[1].values[i], slope, 1e-12);
  }
}

TEST(GradientValues, OfSecondOrderAcrossALoop) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  Op* loop =
      for_loop(graph, {integer(graph, 0), integer(graph, 3), integer(graph, 1)}, {x}, [&](const std::vector<Value>& a) {
        return std::vector{graph.value(OpCode::tanh, {graph.value(OpCode::multiply, {a[1], x})})};
      });
  const Value slope = gradients(graph, {loop, 0}, {x})[0];
  check_gradients(graph, slope, {{x, Array({2}, {0.9, -1.3})}}, {x});
}

TEST(GradientValues, OfALoopThatNeverRuns) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  Op* loop = for_loop(graph, {integer(graph, 2), integer(graph, 2), integer(graph, 1)}, {x},
                      [&](const std::vector<Value>& a) { return std::vector{graph.value(OpCode::exp, {a[1]})}; });
  check_gradients(graph, graph.value(OpCode::square, {{loop, 0}}), {{x, Array({2}, {0.9, -1.3})}}, {x});
}

// A chain through all kinds of ops, with values used many times.
TEST(GradientValues, OfANetwork) {
  Graph graph;
  const Value x = placeholder(graph, f32({4, 5})), w1 = placeholder(graph, f32({5, 3})),
              b = placeholder(graph, f32({3})), w2 = placeholder(graph, f32({3, 2})),
              labels = placeholder(graph, f32({4, 2}));
  const Value h = graph.value(OpCode::tanh, {graph.value(OpCode::add, {graph.value(OpCode::matmul, {x, w1}), b})});
  const Value again = graph.value(OpCode::add, {h, graph.value(OpCode::multiply, {h, b})});
  const Value loss = graph.value(OpCode::softmax_cross_entropy, {graph.value(OpCode::matmul, {again, w2}), labels},
                                 {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("mean")}});
  const Value penalty = graph.value(OpCode::mean, {graph.value(OpCode::square, {w2})}, {{Attr::kAxes, Dims{0, 1}}});
  Sampler sampler;
  std::vector<std::pair<Value, Array>> feeds;
  for (const Value& v : {x, w1, b, w2}) feeds.emplace_back(v, sampler.array(v.shape().dims(), Domain::real));
  feeds.emplace_back(labels, Array({4, 2}, {1, 0, 0.25, 0.75, 0, 1, 0.5, 0.5}));
  check_gradients(graph, graph.value(OpCode::add, {loss, penalty}), feeds, {x, w1, b, w2});
}

}  // namespace
}  // namespace alloy::test
