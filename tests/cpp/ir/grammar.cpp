// Tests the grammar: the errors of add() and of verify(). For each rule, one edit breaks a legal graph.
#include <algorithm>

#include "graph_builder.h"
#include "ir/grammar.h"

namespace alloy::test {
namespace {

// ---- errors of add() ----

TEST(Add, RefusesWhatTheTableDoesNotAllow) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const size_t before = graph.body().ops.size();
  auto add = [&](OpCode code, std::vector<Value> operands, Attributes attributes = {}) {
    return error_of([&] { graph.add(code, std::move(operands), std::move(attributes)); });
  };
  EXPECT_EQ(add(OpCode::add, {x}), "[add] Expected 2 operands, got 1.");
  EXPECT_EQ(add(OpCode::add, {x, x, x}), "[add] Expected 2 operands, got 3.");
  EXPECT_EQ(add(OpCode::concat, {}, {{Attr::kAxis, int64_t{0}}}), "[concat] Expected 1 or more operands, got 0.");
  EXPECT_EQ(add(OpCode::adam, {x}), "[adam] Expected 8 to 9 operands, got 1.");
  EXPECT_EQ(add(OpCode::add, {x, Value{}}), "[add] An operand is missing.");
  EXPECT_EQ(add(OpCode::add, {x, Value{x.op, 1}}),
            "[add] Expected a result of placeholder, which gives 1, got number 1.");
  EXPECT_EQ(add(OpCode::exp, {x}, {{Attr::kAxis, int64_t{0}}}), "[exp] Unknown attribute axis.");
  EXPECT_EQ(add(OpCode::sum, {x}), "[sum] The attribute axes is missing.");
  EXPECT_EQ(add(OpCode::sum, {x}, {{Attr::kAxes, int64_t{0}}}), "[sum] The attribute axes is not legal.");
  EXPECT_EQ(add(OpCode::constant, {}, {{Attr::kValue, LiteralRef()}}), "[constant] The attribute value is not legal.");
  EXPECT_EQ(add(OpCode::conv2d, {x, x}, with(convolution(), Attr::kPaddingStyle, std::string("SAME"))),
            "[conv2d] The attribute padding_style is not legal (one of explicit valid same same_lower).");
  // A part of a legal word, or two words, are not legal.
  EXPECT_EQ(add(OpCode::conv2d, {x, x}, with(convolution(), Attr::kPaddingStyle, std::string("same same_lower"))),
            "[conv2d] The attribute padding_style is not legal (one of explicit valid same same_lower).");
  EXPECT_EQ(add(OpCode::conv2d, {x, x}, with(convolution(), Attr::kPaddingStyle, std::string())),
            "[conv2d] The attribute padding_style is not legal (one of explicit valid same same_lower).");
  EXPECT_EQ(add(OpCode::if_else, {x}), "[if_else] Expected 2 regions.");
  EXPECT_EQ(add(OpCode::assign, {x, x}), "[assign] Expected a variable, got the result of placeholder.");
  EXPECT_EQ(add(OpCode::read_variable, {x}), "[read_variable] Expected a variable, got the result of placeholder.");
  EXPECT_EQ(graph.body().ops.size(), before);
  EXPECT_TRUE(verify(graph).empty());
}

TEST(Add, FlagsAreOptional) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 2}));
  EXPECT_FALSE(graph.value(OpCode::matmul, {x, x}).op->attributes.flag(Attr::kTransposeA));
}

TEST(Add, NamesThePlaceInTheSource) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({3}));
  graph.location = "model.py:12";
  EXPECT_EQ(error_of([&] { graph.add(OpCode::add, {x, y}); }),
            "[add] Shapes (2,) and (3,) do not broadcast; built at model.py:12.");
  EXPECT_EQ(error_of([&] { graph.add(OpCode::add, {x}); }), "[add] Expected 2 operands, got 1; built at model.py:12.");
}

TEST(Add, RefusesValuesOfOtherGraphs) {
  Graph graph, other;
  const Value x = placeholder(graph, f32({2})), y = placeholder(other, f32({2}));
  EXPECT_EQ(error_of([&] { graph.add(OpCode::add, {x, y}); }),
            "[add] An operand, the result of placeholder, is of another graph.");
  graph.after = {y.op};
  EXPECT_EQ(error_of([&] { graph.add(OpCode::exp, {x}); }),
            "[exp] An op to run after, placeholder, is of another graph.");
  graph.after.clear();
  graph.open_region();
  EXPECT_EQ(error_of([&] { graph.close_region({y}); }), "[region] A result is of another graph.");
  // The region is dropped and the graph is as before.
  EXPECT_EQ(graph.value(OpCode::exp, {x}).op->block, &graph.body());
  EXPECT_TRUE(verify(graph).empty());
}

TEST(Add, RefusesValuesOfARegionThatNoOpHolds) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  graph.open_region();
  const Value inner = graph.value(OpCode::exp, {x});
  const auto dangling = graph.close_region({inner});
  EXPECT_EQ(error_of([&] { graph.add(OpCode::log, {inner}); }),
            "[log] An operand, the result of exp, is of another graph.");
}

TEST(Add, MakesStateAndInputsInTheBody) {
  Graph graph;
  graph.open_region();
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2})), c = constant(graph, f32({2}), 1);
  const auto region = graph.close_region({c});
  EXPECT_EQ(x.op->block, &graph.body());
  EXPECT_EQ(v.op->block, &graph.body());
  EXPECT_EQ(c.op->block, region.get());
}

TEST(Add, CountsVariablesInSlots) {
  Graph graph;
  EXPECT_EQ(graph.variable_count(), 0);
  const Value a = variable(graph, f32({})), b = variable(graph, f32({}));
  EXPECT_EQ(a.op->attributes.integer(Attr::kSlot), 0);
  EXPECT_EQ(b.op->attributes.integer(Attr::kSlot), 1);
  EXPECT_NE(error_of([&] { graph.add(OpCode::variable, {}); }), "no error");
  EXPECT_EQ(graph.variable_count(), 2);
}

TEST(Add, KeepsASlotThatIsGiven) {
  Graph graph;
  const Value first = variable(graph, f32({}));
  Attributes attributes = first.op->attributes;
  attributes.set(Attr::kSlot, int64_t{4});
  EXPECT_EQ(graph.value(OpCode::variable, {}, attributes).op->attributes.integer(Attr::kSlot), 4);
  EXPECT_EQ(variable(graph, f32({})).op->attributes.integer(Attr::kSlot), 5);
  EXPECT_EQ(graph.variable_count(), 6);
}

TEST(Add, GivesEveryOpTheCurrentNamePlaceAndOrder) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  graph.name = "n";
  graph.location = "a.py:1";
  graph.after = {x.op};
  const Op* op = graph.value(OpCode::exp, {x}).op;
  EXPECT_EQ(op->name, "n");
  EXPECT_EQ(op->location, "a.py:1");
  EXPECT_EQ(op->after, std::vector<Op*>{x.op});
  EXPECT_GT(op->id, x.op->id);
}

// ---- errors of verify() ----

// A legal graph with every construct, and its parts.
struct Legal {
  Graph graph;
  Value x, flag, v, w, sum;
  Op *write, *ordered, *branches, *inner_write;

  Legal() {
    x = placeholder(graph, f32({2, 3}));
    flag = placeholder(graph, bools({}));
    v = variable(graph, f32({2, 3}));
    w = variable(graph, f32({2, 3}));
    sum = graph.value(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}});
    write = assign(graph, v, x);
    graph.after = {write};
    ordered = read(graph, v).op;
    graph.after.clear();
    branches = if_else(
        graph, flag,
        [&] {
          inner_write = assign(graph, w, x);
          return std::vector{graph.value(OpCode::exp, {sum})};
        },
        [&] { return std::vector{sum}; });
    graph.body().results = {{branches, 0}, {ordered, 0}};
    graph.body().effects = {write, branches};
  }

  // The first thing that verify() says.
  std::string first_problem() const {
    const std::vector<std::string> problems = verify(graph);
    return problems.empty() ? "legal" : problems.front();
  }
};

// The first problem after an edit by hand.
std::string problem_after(const std::function<void(Legal&)>& edit) {
  Legal g;
  edit(g);
  return g.first_problem();
}

TEST(Verify, AcceptsLegalGraphs) {
  EXPECT_EQ(Legal().first_problem(), "legal");
  Graph every;
  add_every_op(every);
  EXPECT_EQ(verify(every), std::vector<std::string>{});
  EXPECT_EQ(verify(Graph()), std::vector<std::string>{});
}

TEST(Verify, FindsWrongOperands) {
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->operands.push_back(g.x); }), "[sum #4] Expected 1 operands, got 2");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->operands[0] = {}; }), "[sum #4] An operand is missing");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->operands[0].index = 1; }),
            "[sum #4] Expected a result of placeholder, which gives 1, got number 1");
  EXPECT_EQ(problem_after([](Legal& g) { g.write->operands[0] = g.x; }),
            "[assign #5] Expected a variable, got the result of placeholder");
  EXPECT_EQ(problem_after([](Legal& g) { g.ordered->operands[0] = g.sum; }),
            "[read_variable #6] Expected a variable, got the result of sum");
}

TEST(Verify, FindsWrongAttributes) {
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->attributes = {}; }), "[sum #4] The attribute axes is missing");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->attributes.set(Attr::kAxis, int64_t{0}); }),
            "[sum #4] Unknown attribute axis");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->attributes.set(Attr::kAxes, true); }),
            "[sum #4] The attribute axes is not legal");
  EXPECT_EQ(problem_after([](Legal& g) { g.w.op->attributes.set(Attr::kSlot, int64_t{0}); }),
            "[variable #3] has the slot of another variable");
}

TEST(Verify, FindsUsesBeforeDefinitions) {
  EXPECT_EQ(problem_after([](Legal& g) { std::swap(g.graph.body().ops[0], g.graph.body().ops[4]); }),
            "[sum #4] uses a value that is not defined before it");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->operands[0] = g.sum; }),
            "[sum #4] uses a value that is not defined before it");
  Legal g, other;
  g.sum.op->operands[0] = other.x;
  EXPECT_EQ(g.first_problem(), "[sum #4] uses a value that is not defined before it");
  // What a region defines is not defined outside, ...
  EXPECT_EQ(problem_after([](Legal& g) {
              Op* last = g.graph.value(OpCode::exp, {g.x}).op;
              last->operands[0] = g.branches->regions[0]->results[0];
              last->results[0] = f32({1, 3});
            }),
            "[exp #10] uses a value that is not defined before it");
  // ... nor in the other region.
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions[1]->results[0] = g.branches->regions[0]->results[0]; }),
            "[block] returns a value that is not defined in it");
}

TEST(Verify, FindsWrongOrder) {
  EXPECT_EQ(problem_after([](Legal& g) { std::swap(g.graph.body().ops[0], g.graph.body().ops[1]); }),
            "[placeholder #0] stands behind an op that was made later");
  EXPECT_EQ(problem_after([](Legal& g) { g.write->after = {g.ordered}; }),
            "[assign #5] runs after an op that does not come before it");
  EXPECT_EQ(problem_after([](Legal& g) { g.write->after = {g.write}; }),
            "[assign #5] runs after an op that does not come before it");
  EXPECT_EQ(problem_after([](Legal& g) { g.write->after = {nullptr}; }),
            "[assign #5] runs after an op that does not come before it");
}

TEST(Verify, FindsWrongBlocks) {
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->block = g.branches->regions[0].get(); }),
            "[sum #4] stands in a block that does not hold it");
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions[1]->parent = nullptr; }),
            "[if_else #9] holds a region of another op");
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions.pop_back(); }), "[if_else #9] Expected 2 regions");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->regions.push_back(std::make_unique<Block>()); }),
            "[sum #4] Expected 0 regions");
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions[0]->effects.clear(); }),
            "[assign #7] is an effect that its region does not list");
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions[1]->effects = {g.write}; }),
            "[block] lists an effect that is not in it");
  EXPECT_EQ(problem_after([](Legal& g) { g.graph.body().effects.push_back(g.inner_write); }),
            "[block] lists an effect that is not in it");
  EXPECT_EQ(problem_after([](Legal& g) { g.graph.body().results.push_back({}); }),
            "[block] returns a value that is not defined in it");
  EXPECT_EQ(problem_after([](Legal& g) { g.graph.body().results.push_back({g.x.op, 1}); }),
            "[block] returns a value that is not defined in it");
  EXPECT_EQ(problem_after([](Legal& g) { g.graph.body().results.push_back(g.branches->regions[0]->results[0]); }),
            "[block] returns a value that is not defined in it");
}

TEST(Verify, FindsStateInRegions) {
  Legal g;
  Block& region = *g.branches->regions[1];
  auto& ops = g.graph.body().ops;
  g.w.op->block = &region;
  region.ops.push_back(std::move(ops[3]));
  ops.erase(ops.begin() + 3);
  const std::vector<std::string> problems = verify(g.graph);
  EXPECT_NE(std::find(problems.begin(), problems.end(), "[variable #3] stands in a region"), problems.end());
}

TEST(Verify, FindsWhatFusedOpsDoNotList) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  graph.open_region();
  const Value inner = graph.value(OpCode::add, {x, y});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(graph.close_region({inner}));
  Op* op = graph.add(OpCode::fused, {x, y}, {}, std::move(regions));
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
  op->operands.pop_back();
  const std::string says = "Expected every value that the region uses among the operands";
  EXPECT_EQ(verify(graph), std::vector<std::string>{"[fused #3] " + says});
  EXPECT_NE(error_of([&] {
              graph.open_region();
              const Value sum = graph.value(OpCode::add, {x, y});
              std::vector<std::unique_ptr<Block>> other;
              other.push_back(graph.close_region({sum}));
              graph.add(OpCode::fused, {x}, {}, std::move(other));
            }).find(says),
            std::string::npos);
}

TEST(Verify, FindsTypesOtherThanTheRulesGive) {
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->results[0] = f32({2, 1}); }),
            "[sum #4] has results other than its rule gives");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->results.push_back(f32({1, 3})); }),
            "[sum #4] has results other than its rule gives");
  EXPECT_EQ(problem_after([](Legal& g) { g.sum.op->attributes.set(Attr::kAxes, Dims{2}); }),
            "[sum] Axis 2 is outside a tensor of rank 2.");
  EXPECT_EQ(problem_after([](Legal& g) { g.branches->regions[1]->results.clear(); }),
            "[if_else] The branches give 1 and 0 results.");
}

TEST(Verify, ReportsEveryProblem) {
  Legal g;
  g.ordered->results[0] = f32({2, 1});
  g.write->after = {g.ordered};
  g.graph.body().results.push_back({});
  EXPECT_EQ(verify(g.graph).size(), 3u);
}

}  // namespace
}  // namespace alloy::test
