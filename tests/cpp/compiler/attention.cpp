// find_attention: which graphs it changes, and that their results stay the same.
#include "cpu/passes/attention.h"
#include "compiler/passes.h"
#include "cpu/device.h"

#include <cmath>
#include <functional>

#include "interpreter.h"
#include "ir/grammar.h"
#include "ir/rules/composites.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"

namespace alloy::compiler {
namespace {

using namespace test;

// A computation of (query, key, value, mask), differentiated with respect to some of them.
struct Program {
  Graph graph;
  std::vector<Value> x;

  explicit Program(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) x.push_back(placeholder(graph, f32(shape)));
  }

  Value op(OpCode code, std::vector<Value> operands, Attributes attributes = {}) {
    return graph.value(code, std::move(operands), std::move(attributes));
  }
  Value number(double value) { return op(OpCode::constant, {}, {{Attr::kValue, ir::Literal::splat(f32({}), value)}}); }
  Value swapped(Value v, const Dims& permutation) {
    return op(OpCode::transpose, {v}, {{Attr::kPermutation, permutation}});
  }
  Value softmax(Value scores) { return op(OpCode::softmax, {scores}, {{Attr::kAxis, int64_t{-1}}}); }
  // query key^T, with the heads first.
  Value scores(Value query, Value key) { return op(OpCode::matmul, {query, swapped(key, {0, 1, 3, 2})}); }
};

int64_t count(const Graph& graph, OpCode code) {
  return std::count_if(graph.body().ops.begin(), graph.body().ops.end(),
                       [&](const auto& op) { return op->code == code; });
}

// Simplifies the graph and finds attentions; checks the numbers of ops and the results.
void expect_found(Program& p, const std::vector<Value>& results, int64_t attentions, int64_t gradients) {
  p.graph.body().results = p.x;
  p.graph.body().results.insert(p.graph.body().results.end(), results.begin(), results.end());
  const std::unique_ptr<Graph> simple = simplify(*resolve_shapes(p.graph), cpu::cpu_device());
  const std::unique_ptr<Graph> found = cpu::find_attention(*simple);
  if (attentions == 0) {
    EXPECT_EQ(found, nullptr) << print(*found);
    return;
  }
  ASSERT_NE(found, nullptr) << print(*simple);
  SCOPED_TRACE(print(*found));
  EXPECT_EQ(verify(*found), std::vector<std::string>{});
  EXPECT_EQ(count(*found, OpCode::scaled_dot_product_attention), attentions);
  EXPECT_EQ(count(*found, OpCode::scaled_dot_product_attention_gradient), gradients);
  EXPECT_EQ(count(*found, OpCode::softmax), 0);
  std::vector<Array> arrays;
  for (const Value& v : p.x) {
    arrays.emplace_back(v.shape().dims());
    for (size_t i = 0; i < arrays.back().size(); ++i) {
      const double number = std::sin(static_cast<double>(i * 7 + 13 * arrays.size()));
      arrays.back().values[i] = v.dtype() == DType::int32 ? std::floor(number * 1e9) : number;
    }
  }
  const auto run = [&](const Graph& graph) {
    std::vector<std::pair<Value, Array>> feeds;
    for (size_t i = 0; i < arrays.size(); ++i) feeds.emplace_back(graph.body().results[i], arrays[i]);
    return Interpreter().run(feeds, graph.body().results, {});
  };
  const std::vector<Array> expected = run(*simple), actual = run(*found);
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < expected[i].size(); ++k) {
      ASSERT_NEAR(actual[i].values[k], expected[i].values[k], 1e-6) << "result " << i << ", element " << k;
    }
  }
}

const std::vector<Shape> kHeads = {{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}};

std::vector<Value> with_gradients(Program& p, Value y, const std::vector<Value>& targets) {
  std::vector<Value> results = {y};
  for (const Value& v : gradients(p.graph, y, targets, p.op(OpCode::sin, {y}))) results.push_back(v);
  return results;
}

TEST(FindAttention, FindsTheOpAndItsGradients) {
  for (const std::vector<size_t>& targets : {std::vector<size_t>{}, {0, 1, 2}, {0}, {1}, {2, 0}}) {
    Program p(kHeads);
    const Value y = p.op(OpCode::scaled_dot_product_attention, p.x, {{Attr::kScale, 0.5}});
    std::vector<Value> wanted;
    for (size_t i : targets) wanted.push_back(p.x[i]);
    expect_found(p, targets.empty() ? std::vector<Value>{y} : with_gradients(p, y, wanted), 1, !targets.empty());
  }
}

TEST(FindAttention, FindsFormulasAndTheirGradients) {
  using Formula = std::function<Value(Program&)>;
  const Formula formulas[] = {
      [](Program& p) { return p.scores(p.x[0], p.x[1]); },
      [](Program& p) { return p.op(OpCode::multiply, {p.scores(p.x[0], p.x[1]), p.number(0.3)}); },
      [](Program& p) { return p.op(OpCode::divide, {p.scores(p.x[0], p.x[1]), p.number(3)}); },
      [](Program& p) { return p.scores(p.op(OpCode::multiply, {p.number(0.3), p.x[0]}), p.x[1]); },
      [](Program& p) { return p.op(OpCode::add, {p.scores(p.x[0], p.x[1]), p.x[3]}); },
      [](Program& p) {
        return p.op(OpCode::add, {p.x[3], p.op(OpCode::multiply, {p.scores(p.x[0], p.x[1]), p.number(0.3)})});
      },
  };
  for (const Formula& formula : formulas) {
    std::vector<Shape> shapes = kHeads;
    shapes.push_back({2, 1, 5, 7});
    Program p(shapes);
    const Value y = p.op(OpCode::matmul, {p.softmax(formula(p)), p.x[2]});
    expect_found(p, with_gradients(p, y, {p.x[0], p.x[1], p.x[2]}), 1, 1);
  }
}

TEST(FindAttention, TakesHeadsAsLayersHaveThem) {
  Program p({{2, 5, 3, 4}, {2, 7, 3, 4}, {2, 7, 3, 6}, {5, 7}});
  std::vector<Value> heads;
  for (size_t i = 0; i < 3; ++i) heads.push_back(p.swapped(p.x[i], {0, 2, 1, 3}));
  heads.push_back(p.x[3]);
  const Value y = p.swapped(p.op(OpCode::scaled_dot_product_attention, heads, {{Attr::kScale, 0.5}}), {0, 2, 1, 3});
  expect_found(p, with_gradients(p, y, {p.x[0], p.x[1], p.x[2]}), 1, 1);
  const std::unique_ptr<Graph> found = cpu::find_attention(*simplify(*resolve_shapes(p.graph), cpu::cpu_device()));
  EXPECT_EQ(count(*found, OpCode::transpose), 0) << print(*found);
}

// The random numbers are not drawn, but the state advances by them.
TEST(FindAttention, FindsDropout) {
  for (bool differentiated : {false, true}) {
    Program p(kHeads);
    const Value state = placeholder(p.graph, {DType::int32, {7}}), weights = p.softmax(p.scores(p.x[0], p.x[1]));
    p.x.push_back(state);
    Op* const random =
        p.graph.add(OpCode::random,
                    {state, p.op(OpCode::empty, {}, {{Attr::kShape, weights.shape()}, {Attr::kDtype, DType::float32}})},
                    {{Attr::kDistribution, std::string("uniform")},
                     {Attr::kSampling, std::string("inverse_cdf")},
                     {Attr::kLow, 0.0},
                     {Attr::kHigh, 1.0},
                     {Attr::kMean, 0.0},
                     {Attr::kDeviation, 1.0}});
    const Value dropped =
        ir::compose(p.graph, ir::Composite::dropout, {weights, p.number(0.25), random->result()}, {})[0];
    const Value y = p.op(OpCode::matmul, {dropped, p.x[2]});
    std::vector<Value> results =
        differentiated ? with_gradients(p, y, {p.x[0], p.x[1], p.x[2]}) : std::vector<Value>{y};
    results.push_back(random->result(1));
    expect_found(p, results, 1, differentiated);
  }
}

TEST(FindAttention, LeavesWhatElseUsesScoresOrWeights) {
  {  // The weights are a result.
    Program p(kHeads);
    const Value weights = p.softmax(p.scores(p.x[0], p.x[1]));
    expect_found(p, {weights, p.op(OpCode::matmul, {weights, p.x[2]})}, 0, 0);
  }
  {  // The mask has a gradient.
    std::vector<Shape> shapes = kHeads;
    shapes.push_back({2, 3, 5, 7});
    Program p(shapes);
    const Value y = p.op(OpCode::scaled_dot_product_attention, p.x, {{Attr::kScale, 0.5}});
    expect_found(p, with_gradients(p, y, {p.x[0], p.x[3]}), 0, 0);
  }
  {  // A softmax along the queries.
    Program p(kHeads);
    const Value weights = p.op(OpCode::softmax, {p.scores(p.x[0], p.x[1])}, {{Attr::kAxis, int64_t{2}}});
    expect_found(p, {p.op(OpCode::matmul, {weights, p.x[2]})}, 0, 0);
  }
  {  // Many features.
    Program p({{2, 5, 300}, {2, 7, 300}, {2, 7, 6}});
    expect_found(p, {p.op(OpCode::scaled_dot_product_attention, p.x, {{Attr::kScale, 0.5}})}, 0, 0);
  }
}

// A key that several heads share has a gradient that is a sum over the heads; only the forward op broadcasts.
TEST(FindAttention, LeavesGradientsOfWhatBroadcasts) {
  const std::vector<Shape> shapes = {{2, 3, 5, 4}, {2, 1, 7, 4}, {2, 1, 7, 6}};
  Program p(shapes), q(shapes);
  const Value y = p.op(OpCode::scaled_dot_product_attention, p.x, {{Attr::kScale, 0.5}});
  expect_found(p, {y}, 1, 0);
  const Value z = q.op(OpCode::scaled_dot_product_attention, q.x, {{Attr::kScale, 0.5}});
  expect_found(q, with_gradients(q, z, {q.x[0], q.x[1]}), 0, 0);
}

}  // namespace
}  // namespace alloy::compiler
