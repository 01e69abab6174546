// Tests the values of gradients through conditionals and loops, in double precision, against central differences, with
// a seed that weights every element of the result differently. tests/python/ops tests the values of every op's
// gradient.
#include <random>

#include "interpreter.h"
#include "ir/grammar.h"
#include "ir/transform/gradients.h"

namespace alloy::test {
namespace {

class Sampler {
 public:
  Array array(const Dims& dims) {
    Array out(dims);
    for (double& v : out.values) v = std::uniform_real_distribution<double>(-2, 2)(random_);
    return out;
  }

 private:
  std::mt19937 random_{11};
};

// Compares the gradients of `y`, weighted by a random seed, with differences along every element of every target.
void check_gradients(Graph& graph, Value y, const std::vector<std::pair<Value, Array>>& feeds,
                     const std::vector<Value>& targets) {
  Sampler sampler;
  const Value seed = placeholder(graph, y.type());
  const Array weights = sampler.array(y.shape().dims());
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
    check_gradients(graph, y, {{flag, Array({}, taken)}, {x, sampler.array({2, 3})}, {w, sampler.array({3})}}, {x, w});
  }
}

Value integer(Graph& graph, double number) { return constant(graph, i32({}), number); }

Value row_of(Graph& graph, Value rows, Value index) {
  return graph.value(OpCode::gather, {rows, index}, {{Attr::kAxis, int64_t{0}}, {Attr::kBatchDims, int64_t{0}}});
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
  check_gradients(graph, y, {{xs, sampler.array({7, 2, 3})}, {h, sampler.array({2, 3})}, {w, sampler.array({3, 3})}},
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
  check_gradients(graph, {outer, 0}, {{x, sampler.array({3})}, {w, sampler.array({3})}, {rows, sampler.array({2, 3})}},
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

}  // namespace
}  // namespace alloy::test
