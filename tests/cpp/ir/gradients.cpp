// Tests differentiation: the ops that it adds, the values it skips, and the ops it refuses. tests/python/ops and
// gradient_values.cpp test the values by finite differences.
#include <algorithm>
#include <map>

#include "graph_builder.h"
#include "ir/grammar.h"
#include "ir/rules/expr.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/rewrite.h"
#include "reference/table_rows.h"

namespace alloy::test {
namespace {

// The number of ops with this code among those added since the graph had `from` ops.
std::map<std::string, int> added(const Graph& graph, size_t from) {
  std::map<std::string, int> counts;
  for (size_t i = from; i < graph.body().ops.size(); ++i) ++counts[std::string(graph.body().ops[i]->info().name)];
  return counts;
}

using Counts = std::map<std::string, int>;

Value total(Graph& graph, Value x) {
  Dims axes;
  for (int64_t i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  return graph.value(OpCode::sum, {x}, {{Attr::kAxes, axes}});
}

// ---- only requested gradients ----

TEST(Gradients, OfOneOperandDoNotComputeTheOthers) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  const Value z = graph.value(OpCode::multiply, {x, y});
  const size_t before = graph.body().ops.size();
  const std::vector<Value> found = gradients(graph, z, {x});
  EXPECT_EQ(added(graph, before), (Counts{{"constant", 1}, {"broadcast_like", 1}, {"multiply", 1}}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].op->code, OpCode::multiply);
  EXPECT_EQ(found[0].op->operands[1], y);
}

TEST(Gradients, OfWeightsDoNotComputeTheInputs) {
  Graph graph;
  const Value image = placeholder(graph, f32({2, 4, 4, 1})), w = variable(graph, f32({3, 3, 1, 2})),
              dense = variable(graph, f32({32, 3}));
  const Value features = graph.value(OpCode::reshape, {graph.value(OpCode::conv2d, {image, w}, convolution())},
                                     {{Attr::kShape, Shape({2, 32})}});
  const Value y = graph.value(OpCode::matmul, {features, dense});
  const size_t before = graph.body().ops.size();
  gradients(graph, total(graph, y), {w, dense});
  Counts counts = added(graph, before);
  EXPECT_EQ(counts["conv2d_weights_gradient"], 1);
  EXPECT_EQ(counts["conv2d_data_gradient"], 0);
  EXPECT_EQ(counts["matmul"], 2);
}

TEST(Gradients, DoNotEnterWhatNoTargetReaches) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  // sgd has no gradient: entering its branch would fail.
  const Value rate = constant(graph, f32({1}), 1);
  const Value aside = graph.value(OpCode::sgd, {rate, y, graph.value(OpCode::exp, {y})});
  const Value z = graph.value(OpCode::add, {graph.value(OpCode::exp, {x}), aside});
  std::vector<Value> found;
  ASSERT_EQ(error_of([&] { found = gradients(graph, z, {x}); }), "no error");
  EXPECT_TRUE(found[0]);
  EXPECT_EQ(error_of([&] { gradients(graph, z, {y}); }), "[sgd] An optimizer's step has no gradient.");
}

TEST(Gradients, OfNothingAddNothingButTheSeed) {
  Graph graph;
  const Value x = placeholder(graph, f32({}));
  const Value y = graph.value(OpCode::exp, {x});
  const size_t before = graph.body().ops.size();
  EXPECT_TRUE(gradients(graph, y, {}).empty());
  EXPECT_EQ(added(graph, before), (Counts{{"constant", 1}}));
}

// ---- values that get a gradient ----

TEST(Gradients, AddUpOverUses) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value square = graph.value(OpCode::multiply, {x, x});
  const Value twice = gradients(graph, square, {x})[0];
  EXPECT_EQ(twice.op->code, OpCode::add);
  EXPECT_EQ(twice.op->operands[0].op->code, OpCode::multiply);
  EXPECT_EQ(twice.op->operands[1].op->code, OpCode::multiply);
  EXPECT_NE(twice.op->operands[0], twice.op->operands[1]);

  const Value e = graph.value(OpCode::exp, {x}), l = graph.value(OpCode::log, {x}), t = graph.value(OpCode::tanh, {x});
  const Value sum = graph.value(OpCode::add, {graph.value(OpCode::add, {e, l}), t});
  const size_t before = graph.body().ops.size();
  gradients(graph, sum, {x});
  EXPECT_EQ(added(graph, before)["add"], 2);
}

TEST(Gradients, AreNullWhereNothingFlows) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3})), other = placeholder(graph, f32({2, 3})),
              n = placeholder(graph, i32({2, 3}));
  const Value y = graph.value(OpCode::exp, {x});
  const Value unreached = graph.value(OpCode::log, {x});
  const std::vector<Value> found = gradients(graph, y, {other, x, unreached, n});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
  EXPECT_FALSE(found[2]);
  EXPECT_FALSE(found[3]);
}

TEST(Gradients, DoNotFlowThroughWhatIsNotDifferentiable) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3})), v = variable(graph, f32({2, 3}));
  auto to_float = [&](Value a) { return graph.value(OpCode::cast, {a}, {{Attr::kDtype, DType::float32}}); };
  const std::vector<std::pair<std::string, Value>> barriers = {
      {"sign", graph.value(OpCode::sign, {x})},
      {"cast to an integer", to_float(graph.value(OpCode::cast, {x}, {{Attr::kDtype, DType::int32}}))},
      {"comparison", to_float(graph.value(OpCode::less, {x, x}))},
      {"argmax", to_float(graph.value(OpCode::argmax, {x}, {{Attr::kAxis, int64_t{1}}}))},
      {"shape_of", to_float(graph.value(OpCode::shape_of, {x}))},
      {"count", graph.value(OpCode::count, {x}, {{Attr::kAxes, Dims{0}}})},
      {"select's predicate", graph.value(OpCode::select, {x, v, v})},
      {"reshape_like's shape", graph.value(OpCode::reshape_like, {v, x})},
      {"broadcast_like's shape", graph.value(OpCode::broadcast_like, {v, x})},
      {"reduce_like's shape", graph.value(OpCode::reduce_like, {v, x})},
      {"slice_gradient's shape", graph.value(OpCode::slice_gradient, {v, x}, slicing({0, 0}, {2, 3}, {1, 1}))},
  };
  for (const auto& [what, y] : barriers) {
    SCOPED_TRACE(what);
    std::vector<Value> found;
    ASSERT_EQ(error_of([&] { found = gradients(graph, y, {x}); }), "no error");
    EXPECT_FALSE(found[0]);
  }
}

TEST(Gradients, ReachIntermediateValues) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value h = graph.value(OpCode::exp, {x}), y = graph.value(OpCode::log, {h});
  const std::vector<Value> found = gradients(graph, y, {h, x, y});
  EXPECT_EQ(found[0].op->code, OpCode::divide);
  EXPECT_EQ(found[1].op->code, OpCode::multiply);
  EXPECT_EQ(found[1].op->operands[0], found[0]);
  EXPECT_EQ(found[2].op->code, OpCode::broadcast_like) << "the gradient of the result itself is the seed";
}

TEST(Gradients, OfStateReachItDirectlyAndThroughReads) {
  Graph graph;
  const Value v = variable(graph, f32({2}));
  const Value seen = read(graph, v);
  EXPECT_EQ(gradients(graph, graph.value(OpCode::exp, {seen}), {v})[0].op->code, OpCode::multiply);
  const Value both = gradients(graph, graph.value(OpCode::multiply, {v, seen}), {v})[0];
  EXPECT_EQ(both.op->code, OpCode::add);
  // No gradient flows through an assignment, but a read after it counts as the variable.
  const Value x = placeholder(graph, f32({2}));
  graph.after = {assign(graph, v, x)};
  const Value later = read(graph, v);
  graph.after.clear();
  const std::vector<Value> found = gradients(graph, later, {x, v});
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
}

// ---- seeds ----

TEST(Gradients, StartFromTheSeed) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3})), seed = placeholder(graph, f32({2, 3}));
  const Value y = graph.value(OpCode::exp, {x});
  const size_t before = graph.body().ops.size();
  const Value found = gradients(graph, y, {x}, seed)[0];
  EXPECT_EQ(added(graph, before), (Counts{{"multiply", 1}}));
  EXPECT_EQ(found.op->operands[0], seed);
  EXPECT_EQ(gradients(graph, y, {y}, seed)[0], seed);
}

TEST(Gradients, RefuseASeedOfAnotherType) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3})), y = graph.value(OpCode::exp, {x});
  auto mistake = [&](const Type& type) {
    const Value seed = placeholder(graph, type);
    return error_of([&] { gradients(graph, y, {x}, seed); });
  };
  EXPECT_EQ(mistake(f32({3})), "[exp] Expected a seed float32(2, 3), got float32(3,).");
  EXPECT_EQ(mistake(f32({4, 2, 3})), "[exp] Expected a seed float32(2, 3), got float32(4, 2, 3).");
  EXPECT_EQ(mistake({DType::float16, Shape({2, 3})}), "[exp] Expected a seed float32(2, 3), got float16(2, 3).");
  EXPECT_EQ(mistake(f32({U, 3})), "no error");
}

TEST(Gradients, RefuseResultsThatAreNotFloating) {
  Graph graph;
  const Value n = placeholder(graph, i32({2}));
  EXPECT_EQ(error_of([&] { gradients(graph, graph.value(OpCode::negative, {n}), {n}); }),
            "[negative] Expected a floating result to differentiate, got int32(2,).");
}

// ---- the user's names are restored, added ops name their origin ----

TEST(Gradients, LeaveTheGraphsSettingsAlone) {
  Graph graph;
  graph.location = "model.py:5";
  const Value x = placeholder(graph, f32({2}));
  const Value y = graph.value(OpCode::exp, {x});
  graph.name = "name";
  graph.location = "train.py:9";
  const size_t before = graph.body().ops.size();
  gradients(graph, y, {x});
  EXPECT_EQ(graph.name, "name");
  EXPECT_EQ(graph.location, "train.py:9");
  // An op that a rule adds has the forward op's location.
  EXPECT_EQ(graph.body().ops.back()->code, OpCode::multiply);
  EXPECT_EQ(graph.body().ops.back()->location, "model.py:5");
  EXPECT_GT(graph.body().ops.size(), before);

  graph.location = "train.py:10";
  const Value rate = constant(graph, f32({1}), 1), step = graph.value(OpCode::sgd, {rate, x, x});
  EXPECT_NE(error_of([&] { gradients(graph, step, {x}); }), "no error");
  EXPECT_EQ(graph.location, "train.py:10") << "after an error too";
}

// ---- every op ----

// The ops whose gradient is refused, with the messages.
const std::map<std::string, std::string> kWithout = {
    {"sgd", "[sgd] An optimizer's step has no gradient."},
    {"adam", "[adam] An optimizer's step has no gradient."},
    {"rnn_gradient", "[rnn_gradient] The op has no gradient."},
    {"lstm_gradient", "[lstm_gradient] The op has no gradient."},
    {"gru_gradient", "[gru_gradient] The op has no gradient."},
    {"scaled_dot_product_attention_gradient", "[scaled_dot_product_attention_gradient] The op has no gradient."},
};

// The structured ops, and ops with a slope in another operand, for which some floating operand whose elements are read
// does not influence the result, or only in steps.
const std::map<std::string, std::vector<size_t>> kWithoutSlope = {
    {"relu_gradient", {1}}, {"max_pool2d_gradient", {1}}, {"max_pool4d_gradient", {1}},
    {"select", {0}},        {"stop_gradient", {0}},
};

// For every op with a floating result: each floating operand gets a gradient of its own type, or the op reports that it
// has no gradient.
TEST(Gradients, EveryOpHasOneOrSaysSo) {
  Graph whole;
  add_every_op(whole);
  std::map<std::string, std::string> without;
  for (const auto& op : whole.body().ops) {
    if (op->results.empty() || kind(op->results[0].dtype) != DTypeKind::kFloating || !op->regions.empty()) continue;
    const std::string op_name(op->info().name);
    for (size_t i = 0; i < op->operands.size(); ++i) {
      if (kind(op->operands[i].dtype()) != DTypeKind::kFloating || op->code == OpCode::read_variable) continue;
      SCOPED_TRACE(op_name + ", operand " + std::to_string(i));
      Graph graph;
      std::vector<Value> operands;
      for (const Value& v : op->operands) operands.push_back(placeholder(graph, v.type()));
      const Value y = graph.value(op->code, operands, op->attributes);
      std::vector<Value> found;
      const std::string mistake = error_of([&] { found = gradients(graph, y, {operands[i]}); });
      EXPECT_EQ(verify(graph), std::vector<std::string>{});
      const auto listed = kWithoutSlope.find(op_name);
      const bool without_slope = !op->info().reads(i) || reference::is_without_gradient(op->code) ||
                                 (listed != kWithoutSlope.end() &&
                                  std::find(listed->second.begin(), listed->second.end(), i) != listed->second.end());
      if (without_slope) {
        ASSERT_EQ(mistake, "no error");
        EXPECT_FALSE(found[0]);
      } else if (mistake != "no error") {
        without[op_name] = mistake;
      } else {
        ASSERT_TRUE(found[0])
            << "its slope is missing: give it one in csrc/ir/transform/gradients.cpp, or add it to kWithoutSlope";
        EXPECT_EQ(found[0].type(), operands[i].type());
      }
    }
  }
  for (const auto& [name, mistake] : without) {
    EXPECT_TRUE(kWithout.contains(name))
        << name << " has no gradient: give it one in csrc/ir/transform/gradients.cpp, or add a row to kWithout";
  }
  EXPECT_EQ(without, kWithout);
}

// With unknown dimensions or an unknown rank, the gradients are the same with fitting types, or the message names the
// unknown part.
TEST(Gradients, LiveWithTheUnknown) {
  Graph whole;
  add_every_op(whole);
  for (bool ranked : {true, false}) {
    for (const auto& op : whole.body().ops) {
      if (op->results.empty() || kind(op->results[0].dtype) != DTypeKind::kFloating || !op->regions.empty()) continue;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        if (kind(op->operands[i].dtype()) != DTypeKind::kFloating || op->code == OpCode::read_variable) continue;
        SCOPED_TRACE(std::string(op->info().name) + ", operand " + std::to_string(i));
        Graph graph;
        std::vector<Feed> feeds;
        std::vector<Value> operands;
        for (const Value& v : op->operands) {
          const Shape less = ranked ? Shape(Dims(v.shape().dims().size(), U)) : Shape::unranked();
          operands.push_back(placeholder(graph, {v.dtype(), less}));
          feeds.push_back({operands.back(), v.type()});
        }
        const Value y = graph.value(op->code, operands, op->attributes);
        std::vector<Value> found;
        const std::string mistake = error_of([&] { found = gradients(graph, y, {operands[i]}); });
        EXPECT_EQ(verify(graph), std::vector<std::string>{});
        if (mistake != "no error") {
          EXPECT_TRUE(mistake.find("has no gradient") != std::string::npos ||
                      mistake.find("unknown") != std::string::npos || mistake.find("known rank") != std::string::npos)
              << mistake;
          continue;
        }
        if (!found[0]) continue;
        Specialized special;
        ASSERT_EQ(error_of([&] { special = specialize(feeds, found, {}); }), "no error");
        EXPECT_EQ(special.graph->body().results[0].type(), op->operands[i].type());
      }
    }
  }
}

// A gradient consists of ordinary ops: it can be differentiated again, or the message gives the reason.
TEST(Gradients, CanBeDifferentiatedAgain) {
  Graph whole;
  add_every_op(whole);
  for (const auto& op : whole.body().ops) {
    if (op->results.empty() || kind(op->results[0].dtype) != DTypeKind::kFloating || !op->regions.empty() ||
        op->operands.empty()) {
      continue;
    }
    if (kWithout.contains(std::string(op->info().name)) || op->code == OpCode::read_variable) continue;
    SCOPED_TRACE(op->info().name);
    Graph graph;
    std::vector<Value> operands, floating;
    for (const Value& v : op->operands) {
      operands.push_back(placeholder(graph, v.type()));
      if (kind(v.dtype()) == DTypeKind::kFloating) floating.push_back(operands.back());
    }
    const Value y = graph.value(op->code, operands, op->attributes);
    const Value seed = placeholder(graph, y.type());
    for (const Value& first : gradients(graph, y, floating, seed)) {
      if (!first) continue;
      std::vector<Value> with_seed = floating;
      with_seed.push_back(seed);
      std::vector<Value> second;
      const std::string mistake = error_of([&] { second = gradients(graph, first, with_seed); });
      EXPECT_TRUE(mistake == "no error" || mistake.ends_with("The op has no gradient.")) << mistake;
      for (size_t i = 0; i < second.size(); ++i) {
        if (second[i]) {
          EXPECT_EQ(second[i].type(), with_seed[i].type());
        }
      }
      // A gradient is linear in its seed and always depends on it.
      if (mistake == "no error") {
        EXPECT_TRUE(second.back());
      }
    }
    EXPECT_EQ(verify(graph), std::vector<std::string>{});
  }
}

TEST(Gradients, HaveTheShapeOfWhatWasBroadcast) {
  Graph graph;
  const Value x = placeholder(graph, f32({4, 1, 3})), b = placeholder(graph, f32({2, 1})),
              s = placeholder(graph, f32({}));
  const Value y = graph.value(OpCode::multiply, {graph.value(OpCode::add, {x, b}), s});
  const std::vector<Value> found = gradients(graph, y, {x, b, s});
  EXPECT_EQ(found[0].shape(), x.shape());
  EXPECT_EQ(found[1].shape(), b.shape());
  EXPECT_EQ(found[2].shape(), s.shape());
  // Only broadcast operands get a sum.
  const Value p = placeholder(graph, f32({2, 3})), q = placeholder(graph, f32({2, 3}));
  const Value product = graph.value(OpCode::multiply, {p, q});
  const size_t before = graph.body().ops.size();
  gradients(graph, product, {p, q});
  EXPECT_EQ(added(graph, before)["reduce_like"], 0);
}

// ---- conditionals ----

TEST(Gradients, CrossConditionals) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2, 3})),
              w = placeholder(graph, f32({2, 3}));
  const Value predicate = graph.value(OpCode::cast, {flag}, {{Attr::kDtype, DType::float32}});
  Op* op = if_else(
      graph, predicate,
      [&] {
        const Value e = graph.value(OpCode::exp, {x});
        return std::vector{graph.value(OpCode::multiply, {e, w})};
      },
      [&] { return std::vector{graph.value(OpCode::square, {x})}; });
  const Value loss = total(graph, {op, 0});
  const std::vector<Value> found = gradients(graph, loss, {x, w, predicate});
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_EQ(found[0].type(), x.type());
  EXPECT_EQ(found[1].type(), w.type());
  EXPECT_FALSE(found[2]) << "a predicate has no gradient";
  const Specialized special =
      specialize({{flag, bools({})}, {x, x.type()}, {w, w.type()}}, {found[0], found[1], loss}, {});
  EXPECT_EQ(verify(*special.graph), std::vector<std::string>{});
  EXPECT_EQ(print(*parse(print(graph))), print(graph));
}

// After an error in a branch, the graph is as before.
TEST(Gradients, ThatFailInABranchLeaveNoRegionOpen) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2})),
              rate = constant(graph, f32({1}), 1);
  Op* op = if_else(
      graph, flag,
      [&] {
        Op* inner = if_else(
            graph, flag, [&] { return std::vector{graph.value(OpCode::sgd, {rate, x, x})}; },
            [&] { return std::vector{x}; });
        return std::vector{Value{inner, 0}};
      },
      [&] { return std::vector{x}; });
  EXPECT_EQ(error_of([&] { gradients(graph, {op, 0}, {x}); }), "[sgd] An optimizer's step has no gradient.");
  EXPECT_EQ(graph.value(OpCode::exp, {x}).op->block, &graph.body());
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
}

// In a branch that does not use a target, its gradient is zeros of its shape; in a conditional that uses no target, it
// is null.
TEST(Gradients, OfConditionalsThatDoNotUseTheTarget) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({U})), y = placeholder(graph, f32({U}));
  Op* op =
      if_else(graph, flag, [&] { return std::vector{graph.value(OpCode::exp, {x})}; }, [&] { return std::vector{y}; });
  Op* aside =
      if_else(graph, flag, [&] { return std::vector{y}; }, [&] { return std::vector{graph.value(OpCode::exp, {y})}; });
  const Value sum = graph.value(OpCode::add, {{op, 0}, {aside, 0}});
  const Value only = gradients(graph, sum, {x})[0];
  ASSERT_TRUE(only);
  const Specialized special = specialize({{flag, bools({})}, {x, f32({3})}, {y, f32({3})}}, {only}, {});
  EXPECT_EQ(special.graph->body().results[0].type(), f32({3}));
  EXPECT_EQ(gradients(graph, {aside, 0}, {x}), std::vector<Value>{Value{}});
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
}

}  // namespace
}  // namespace alloy::test
