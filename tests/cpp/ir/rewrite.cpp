// Tests the ops that a computation needs, copies by rules, and specialisation for feeds.
#include <algorithm>

#include "graph_builder.h"
#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

namespace alloy::test {
namespace {

std::vector<std::string> names(const std::vector<Op*>& ops) {
  std::vector<std::string> out;
  for (const Op* op : ops) out.emplace_back(op->info().name);
  return out;
}

bool contains(const std::vector<Op*>& ops, const Op* op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

// ---- liveness ----

TEST(LiveOps, AreWhatResultsAndEffectsNeedInOrder) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2}));
  const Value a = graph.value(OpCode::exp, {x});
  graph.value(OpCode::log, {x});
  const Value b = graph.value(OpCode::add, {a, a});
  Op* write = assign(graph, v, a);
  EXPECT_EQ(names(live_ops({b}, {})), (std::vector<std::string>{"placeholder", "exp", "add"}));
  EXPECT_EQ(names(live_ops({b}, {write})),
            (std::vector<std::string>{"placeholder", "variable", "exp", "add", "assign"}));
  EXPECT_EQ(names(live_ops({b, b, x}, {})), (std::vector<std::string>{"placeholder", "exp", "add"}));
  EXPECT_TRUE(live_ops({}, {}).empty());
}

TEST(LiveOps, IncludeWhatMustComeBefore) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2}));
  Op* write = assign(graph, v, x);
  graph.after = {write};
  const Value a = graph.value(OpCode::exp, {x});
  graph.after.clear();
  const Value b = graph.value(OpCode::log, {a});
  EXPECT_TRUE(contains(live_ops({b}, {}), write));
  EXPECT_FALSE(contains(live_ops({x}, {}), write));
}

TEST(LiveOps, IncludeWhatRegionsCapture) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  const Value a = graph.value(OpCode::exp, {x}), unused = graph.value(OpCode::exp, {x});
  Op* outer = if_else(
      graph, flag,
      [&] {
        Op* inner = if_else(
            graph, flag, [&] { return std::vector{graph.value(OpCode::negative, {a})}; },
            [&] { return std::vector{y}; });
        return std::vector{Value{inner, 0}};
      },
      [&] { return std::vector{x}; });
  const std::vector<Op*> live = live_ops({{outer, 0}}, {});
  EXPECT_TRUE(contains(live, a.op));
  EXPECT_TRUE(contains(live, y.op));
  EXPECT_FALSE(contains(live, unused.op));
  for (const Op* op : live) EXPECT_EQ(op->block, &graph.body()) << op->info().name << " stands in a region";
}

TEST(LiveOps, IncludeWhatOpsOfRegionsMustComeAfter) {
  for (int depth = 1; depth <= 3; ++depth) {
    SCOPED_TRACE(depth);
    Graph graph;
    const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2}));
    const Value v = variable(graph, f32({2})), w = variable(graph, f32({2}));
    Op* first = assign(graph, v, x);
    std::function<void(int)> nest = [&](int level) {
      if (level == 0) {
        graph.after = {first};
        assign(graph, w, x);
        graph.after.clear();
        return;
      }
      if_else(
          graph, flag,
          [&] {
            nest(level - 1);
            return std::vector<Value>();
          },
          [] { return std::vector<Value>(); });
    };
    nest(depth);
    EXPECT_TRUE(contains(live_ops({}, {graph.body().ops.back().get()}), first));
  }
}

TEST(LiveOps, LeaveOutWhatDeadCodeOfRegionsUses) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2})), v = variable(graph, f32({2}));
  const Value unused = graph.value(OpCode::exp, {x});
  Op* write = assign(graph, v, x);
  Op* op = if_else(
      graph, flag,
      [&] {
        graph.value(OpCode::log, {unused});
        graph.after = {write};
        read(graph, v);
        graph.after.clear();
        return std::vector{x};
      },
      [&] { return std::vector{x}; });
  EXPECT_EQ(names(live_ops({{op, 0}}, {})), (std::vector<std::string>{"placeholder", "placeholder", "if_else"}));
}

TEST(Captures, AreTheOuterValuesEachOnce) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  Op* op = if_else(
      graph, flag, [&] { return std::vector{graph.value(OpCode::add, {x, x})}; },
      [&] {
        const Value inner = graph.value(OpCode::exp, {y});
        Op* nested = if_else(graph, flag, [&] { return std::vector{inner}; }, [&] { return std::vector{x}; });
        return std::vector{Value{nested, 0}};
      });
  std::vector<Value> found = captures(*op);
  ASSERT_EQ(found.size(), 3u);
  for (const Value& v : {x, y, flag}) EXPECT_NE(std::find(found.begin(), found.end(), v), found.end());
  EXPECT_TRUE(captures(*x.op).empty());
}

// ---- rewriting ----

Rewriter::Rule keep_all() {
  return [](Rewriter&, const Op&, const std::vector<Value>&) -> Replacement { return std::nullopt; };
}

TEST(Rewrite, WithoutReplacementsIsACopy) {
  Graph graph;
  add_every_op(graph);
  // Only the needed ops are copied, unchanged.
  const std::unique_ptr<Graph> needed = Rewriter(keep_all()).run(graph);
  EXPECT_EQ(verify(*needed), std::vector<std::string>{});
  EXPECT_EQ(print(*Rewriter(keep_all()).run(*needed)), print(*needed));
  EXPECT_EQ(needed->body().results.size(), graph.body().results.size());
  EXPECT_EQ(needed->body().effects.size(), graph.body().effects.size());
}

TEST(Rewrite, KeepsNamesPlacesAndOrder) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), flag = placeholder(graph, bools({})), v = variable(graph, f32({2}));
  Op* write = assign(graph, v, x);
  graph.name = "branches";
  graph.location = "model.py:3";
  graph.after = {write};
  std::vector<std::unique_ptr<Block>> regions;
  for (const char* inner : {"yes", "no"}) {
    graph.open_region();
    graph.name = inner;
    graph.location = "model.py:4";
    regions.push_back(graph.close_region({graph.value(OpCode::exp, {x})}));
  }
  graph.name = "branches";
  graph.location = "model.py:3";
  Op* op = graph.add(OpCode::if_else, {flag}, {}, std::move(regions));
  graph.name.clear();
  graph.location.clear();
  graph.after.clear();
  graph.body().results = {graph.value(OpCode::exp, {{op, 0}})};

  const std::unique_ptr<Graph> copy = Rewriter(keep_all()).run(graph);
  EXPECT_EQ(verify(*copy), std::vector<std::string>{});
  const Op& made = *copy->body().results[0].op->operands[0].op;
  EXPECT_EQ(made.name, "branches");
  EXPECT_EQ(made.location, "model.py:3");
  ASSERT_EQ(made.after.size(), 1u);
  EXPECT_EQ(made.after[0]->code, OpCode::assign);
  EXPECT_EQ(made.regions[1]->results[0].op->name, "no");
  EXPECT_EQ(made.regions[1]->results[0].op->location, "model.py:4");
  // Ops added to the copy later have no name or location.
  const Op& fresh = *copy->value(OpCode::exp, {copy->body().results[0]}).op;
  EXPECT_EQ(fresh.name, "");
  EXPECT_EQ(fresh.location, "");
  EXPECT_TRUE(fresh.after.empty());
}

TEST(Rewrite, ReplacesByTheRule) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2})), flag = placeholder(graph, bools({}));
  Op* branches = if_else(
      graph, flag, [&] { return std::vector{graph.value(OpCode::negative, {x})}; }, [&] { return std::vector{x}; });
  const Value y = graph.value(OpCode::add, {{branches, 0}, x});
  graph.body().results = {graph.value(OpCode::negative, {y}), y};
  graph.body().effects = {assign(graph, v, y)};
  // -a becomes a, assignments disappear, additions become products.
  Rewriter rewriter([](Rewriter& r, const Op& op, const std::vector<Value>& operands) -> Replacement {
    if (op.code == OpCode::negative) return {{operands[0]}};
    if (op.code == OpCode::assign) return std::vector<Value>{};
    if (op.code == OpCode::add) return {{r.copy().value(OpCode::multiply, operands)}};
    return std::nullopt;
  });
  const std::unique_ptr<Graph> copy = rewriter.run(graph);
  EXPECT_EQ(print(*copy), R"(graph {
  %0 = placeholder() {shape = (2,), dtype = float32} : float32(2,)
  %1 = variable() {value = float32(2,)[0 ...], slot = 0} : float32(2,)
  %2 = placeholder() {shape = (), dtype = bool} : bool()
  %3 = if_else(%2) : float32(2,)
  region {
    return (%0)
  }
  region {
    return (%0)
  }
  %4 = multiply(%3, %0) : float32(2,)
  return (%4, %4)
}
)");
  EXPECT_EQ(verify(*copy), std::vector<std::string>{});
}

TEST(Rewrite, KeepsSlots) {
  Graph graph;
  variable(graph, f32({}));
  const Value second = variable(graph, f32({}));
  graph.body().results = {second};
  const std::unique_ptr<Graph> copy = Rewriter(keep_all()).run(graph);
  ASSERT_EQ(copy->body().ops.size(), 1u);
  EXPECT_EQ(copy->body().ops[0]->attributes.integer(Attr::kSlot), 1);
}

TEST(Rewrite, RefusesResultsOfRegions) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), flag = placeholder(graph, bools({}));
  Op* op =
      if_else(graph, flag, [&] { return std::vector{graph.value(OpCode::exp, {x})}; }, [&] { return std::vector{x}; });
  graph.body().results = {{op, 0}, op->regions[0]->results[0]};
  EXPECT_EQ(error_of([&] { Rewriter(keep_all()).run(graph); }),
            "[exp] The value belongs to a nested block and cannot be used outside it.");
}

// ---- specialisation ----

struct Model {
  Graph graph;
  Value x, w, y, loss;
  Op* update;

  Model() {
    graph.name = "x";
    x = placeholder(graph, f32({U, 3}));
    graph.name.clear();
    variable(graph, f32({7}));  // a slot of its own
    w = variable(graph, f32({3, 2}), 0.5);
    y = graph.value(OpCode::matmul, {x, w});
    loss = graph.value(OpCode::sum, {y}, {{Attr::kAxes, Dims{0, 1}}});
    graph.value(OpCode::exp, {y});
    update = assign(graph, w, graph.value(OpCode::add, {w, loss}));
  }
};

TEST(Specialize, InfersTypesFromTheFeeds) {
  Model m;
  const std::string before = print(m.graph);
  EXPECT_EQ(m.y.type(), f32({U, 2}));
  const Specialized special = specialize({{m.x, f32({5, 3})}}, {m.y, m.loss}, {m.update});
  EXPECT_EQ(special.graph->body().results[0].type(), f32({5, 2}));
  EXPECT_EQ(special.graph->body().results[1].type(), f32({1, 1}));
  ASSERT_EQ(special.graph->body().effects.size(), 1u);
  EXPECT_EQ(special.graph->body().effects[0]->code, OpCode::assign);
  ASSERT_EQ(special.feeds.size(), 1u);
  EXPECT_EQ(special.feeds[0].type(), f32({5, 3}));
  EXPECT_EQ(special.feeds[0].op->name, "x");
  EXPECT_EQ(special.slots, std::vector<int64_t>{1});
  EXPECT_EQ(verify(*special.graph), std::vector<std::string>{});
  for (const auto& op : special.graph->body().ops) {
    for (const Type& type : op->results) EXPECT_TRUE(type.is_static()) << op->info().name;
    EXPECT_NE(op->code, OpCode::exp) << "dead code stayed";
  }
  EXPECT_EQ(print(m.graph), before) << "specialisation changed its source";
}

TEST(Specialize, AcceptsFeedsThatAreNotFullyKnownEither) {
  Model m;
  EXPECT_EQ(specialize({{m.x, f32({U, 3})}}, {m.y}, {}).graph->body().results[0].type(), f32({U, 2}));
}

TEST(Specialize, RefusesWrongFeeds) {
  Model m;
  auto mistake = [&](const std::vector<Feed>& feeds) { return error_of([&] { specialize(feeds, {m.y}, {}); }); };
  EXPECT_EQ(mistake({}), "[placeholder] The placeholder 'x' of shape (?, 3) is needed but was not fed.");
  EXPECT_EQ(mistake({{m.x, i32({5, 3})}}), "[placeholder] The placeholder 'x' is float32 but was fed int32.");
  EXPECT_EQ(mistake({{m.x, f32({5, 4})}}),
            "[placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (5, 4).");
  EXPECT_EQ(mistake({{m.x, f32({3})}}), "[placeholder] The placeholder 'x' has shape (?, 3) but was fed shape (3,).");
  EXPECT_EQ(mistake({{m.x, f32({5, 3})}, {m.x, f32({5, 3})}}), "[placeholder] The placeholder 'x' was fed twice.");
  EXPECT_EQ(mistake({{m.x, f32({5, 3})}, {m.w, f32({3, 2})}}),
            "[variable] Only a placeholder can be fed, not the result of this op.");
}

TEST(Specialize, FindsWhatOnlyTheShapesShow) {
  Graph graph;
  const Value a = placeholder(graph, f32({U})), b = placeholder(graph, f32({U}));
  graph.location = "model.py:9";
  const Value c = graph.value(OpCode::add, {a, b});
  EXPECT_EQ(error_of([&] { specialize({{a, f32({2})}, {b, f32({3})}}, {c}, {}); }),
            "[add] Shapes (2,) and (3,) do not broadcast; built at model.py:9.");
}

TEST(Specialize, KeepsFeedsThatNothingUses) {
  Model m;
  const Value unused = placeholder(m.graph, i32({U}));
  const Specialized special = specialize({{unused, i32({4})}, {m.x, f32({5, 3})}}, {m.loss}, {});
  ASSERT_EQ(special.feeds.size(), 2u);
  EXPECT_EQ(special.feeds[0].type(), i32({4}));
  EXPECT_EQ(special.feeds[1].type(), f32({5, 3}));
  EXPECT_EQ(special.graph->body().results.size(), 1u);
}

TEST(Specialize, CarriesFeedsThroughPasses) {
  Graph graph;
  const Value used = placeholder(graph, f32({U})), unused = placeholder(graph, f32({U}));
  Specialized special = specialize({{unused, f32({3})}, {used, f32({2})}}, {graph.value(OpCode::exp, {used})}, {});
  carry_feeds(special, [](const Graph& given) { return remove_effects(given).graph; });
  ASSERT_EQ(special.graph->body().results.size(), 1u);
  EXPECT_EQ(special.graph->body().results[0].op->code, OpCode::exp);
  ASSERT_EQ(special.feeds.size(), 2u);
  EXPECT_EQ(special.feeds[0].type(), f32({3}));
  EXPECT_EQ(special.feeds[1], special.graph->body().results[0].op->operands[0]);
}

TEST(Specialize, TakesAnyValueAsAResult) {
  Model m;
  const Specialized special = specialize({{m.x, f32({5, 3})}}, {m.x, m.w, m.x, m.loss, m.loss}, {});
  const std::vector<Value>& results = special.graph->body().results;
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0], special.feeds[0]);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1].op->code, OpCode::variable);
  EXPECT_EQ(results[3], results[4]);
  EXPECT_TRUE(specialize({}, {}, {}).graph->body().ops.empty());
}

TEST(Specialize, ReachesPlaceholdersInRegions) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({U}));
  Op* op =
      if_else(graph, flag, [&] { return std::vector{graph.value(OpCode::exp, {x})}; }, [&] { return std::vector{x}; });
  const Specialized special = specialize({{flag, bools({})}, {x, f32({4})}}, {{op, 0}}, {});
  EXPECT_EQ(special.graph->body().results[0].type(), f32({4}));
  EXPECT_EQ(verify(*special.graph), std::vector<std::string>{});
  EXPECT_EQ(error_of([&] { specialize({{flag, bools({})}}, {{op, 0}}, {}); }),
            "[placeholder] The placeholder of shape (?,) is needed but was not fed.");
}

// An assignment that a result must come after runs, although it is not listed.
TEST(Specialize, BringsWhatMustComeBefore) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2}));
  graph.after = {assign(graph, v, x)};
  const Value y = graph.value(OpCode::identity, {x});
  const Specialized special = specialize({{x, f32({2})}}, {y}, {});
  EXPECT_EQ(special.slots, std::vector<int64_t>{0});
  const Op& made = *special.graph->body().results[0].op;
  ASSERT_EQ(made.after.size(), 1u);
  EXPECT_EQ(made.after[0]->code, OpCode::assign);
}

}  // namespace
}  // namespace alloy::test
