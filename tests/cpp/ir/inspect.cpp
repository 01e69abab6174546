// Tests inspecting a graph before it runs: stages, in which ops may run in any order; all mistakes that specialising
// finds; and the data about each op.
#include "ir/text/inspect.h"
#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

#include <algorithm>
#include <numeric>

#include "random_graph.h"

namespace alloy::test {
namespace {

// ---- stages ----

std::vector<std::vector<std::string>> names_of(const std::vector<std::vector<Op*>>& stages) {
  std::vector<std::vector<std::string>> names;
  for (const auto& stage : stages) {
    names.emplace_back();
    for (const Op* op : stage) names.back().emplace_back(op->info().name);
  }
  return names;
}

TEST(Stages, HoldEachOpAsEarlyAsItsNeedsAllow) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 2})), w = variable(graph, f32({2, 2}));
  const Value product = graph.value(OpCode::matmul, {x, w}), late = graph.value(OpCode::exp, {product});
  const Value early = graph.value(OpCode::tanh, {w});
  graph.value(OpCode::sqrt, {x});  // nobody needs it
  Op* write = assign(graph, w, graph.value(OpCode::add, {late, early}));
  const std::vector<std::vector<std::string>> expected = {
      {"placeholder", "variable"}, {"matmul", "tanh"}, {"exp"}, {"add"}, {"assign"}};
  EXPECT_EQ(names_of(stages({}, {write})), expected);
  EXPECT_EQ(names_of(stages({early}, {})), (std::vector<std::vector<std::string>>{{"variable"}, {"tanh"}}));
  EXPECT_TRUE(stages({}, {}).empty());
}

TEST(Stages, OrderWhatReadsAndAssignsAVariable) {
  Graph graph;
  const Value v = variable(graph, f32({1})), w = variable(graph, f32({1}), 1);
  const Value before = read(graph, v);
  Op *first = assign(graph, v, w), *other = assign(graph, w, v);
  const Value between = read(graph, v);
  Op* second = assign(graph, v, w);
  const auto found = stages({before, between}, {first, other, second});
  // Nothing waits for a variable's value at the start of the run.
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[1], (std::vector<Op*>{before.op, other}));
  EXPECT_EQ(found[2], std::vector<Op*>{first});
  EXPECT_EQ(found[3], std::vector<Op*>{between.op});
  EXPECT_EQ(found[4], std::vector<Op*>{second});
}

TEST(Stages, FollowWhatABranchRunsAfter) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), v = variable(graph, f32({1})), w = variable(graph, f32({1}));
  Op* first = assign(graph, v, graph.value(OpCode::exp, {graph.value(OpCode::exp, {w})}));
  Op* branches = if_else(
      graph, flag,
      [&] {
        graph.after = {first};
        const Value sum = graph.value(OpCode::add, {w, w});
        graph.after.clear();
        return std::vector{sum};
      },
      [&] { return std::vector{w}; });
  const auto found = stages({{branches, 0}}, {});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[3], std::vector<Op*>{first});
  EXPECT_EQ(found[4], std::vector<Op*>{branches});
}

// Every op comes after its operands, and ops of one stage may run in any order.
TEST(Stages, OfRandomGraphsAreOrdersOfExecution) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    SCOPED_TRACE(print(random.graph));
    const auto feeds = random.random_feeds();
    Interpreter before, after;
    const std::vector<Array> expected = before.run(feeds, random.results, random.effects);

    std::vector<std::vector<Op*>> found = stages(random.results, random.effects);
    std::map<const Op*, size_t> rank;
    std::mt19937 dice(seed);
    for (auto& stage : found) {
      ASSERT_FALSE(stage.empty());
      std::shuffle(stage.begin(), stage.end(), dice);
      for (const Op* op : stage) rank.emplace(op, rank.size());
    }
    auto& ops = random.graph.body().ops;
    std::stable_sort(ops.begin(), ops.end(), [&](const auto& a, const auto& b) {
      const size_t last = rank.size();
      return (rank.contains(a.get()) ? rank.at(a.get()) : last) < (rank.contains(b.get()) ? rank.at(b.get()) : last);
    });
    const std::vector<Array> actual = after.run(feeds, random.results, random.effects);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].values, expected[i].values);
    ASSERT_EQ(after.state.size(), before.state.size());
    for (const auto& [slot, array] : before.state) EXPECT_EQ(after.state.at(slot).values, array.values);
    if (HasFailure()) return;
  }
}

// ---- every mistake ----

class Mistakes : public ::testing::Test {
 protected:
  Value at(const std::string& location, const std::function<Value()>& build) {
    graph.location = location;
    const Value made = build();
    graph.location.clear();
    return made;
  }

  std::vector<std::string> of(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                              const std::vector<Op*>& effects = {}) {
    std::vector<std::string> problems;
    specialize(feeds, results, effects, problems);
    // The error thrown without a list is the first one of the list.
    const std::string thrown = error_of([&] { specialize(feeds, results, effects); });
    EXPECT_EQ(thrown, problems.empty() ? "no error" : problems[0]);
    return problems;
  }

  Graph graph;
};

TEST_F(Mistakes, AreFoundOnEveryPath) {
  graph.name = "x";
  const Value x = at("a.py:1", [&] { return placeholder(graph, f32({U, U})); });
  graph.name = "y";
  const Value y = at("a.py:2", [&] { return placeholder(graph, f32({U})); });
  graph.name.clear();
  const Value w = variable(graph, f32({3, 2}));
  const Value product = at("a.py:3", [&] { return graph.value(OpCode::matmul, {x, w}); });
  const Value total = at("a.py:4", [&] { return graph.value(OpCode::add, {x, y}); });
  // An error that follows from another is not listed.
  const Value after = at("a.py:5", [&] { return graph.value(OpCode::exp, {product}); });
  Op* write = assign(graph, w, graph.value(OpCode::reduce_like, {total, w}));

  EXPECT_TRUE(of({{x, f32({3, 3})}, {y, f32({3})}}, {product, total}).empty());
  EXPECT_EQ(of({{x, f32({4, 5})}, {y, f32({3})}}, {after, total}),
            (std::vector<std::string>{
                "[matmul] Inner dimensions differ: 5 of shape (4, 5) and 3 of shape (3, 2); built at a.py:3.",
                "[add] Shapes (4, 5) and (3,) do not broadcast; built at a.py:4."}));
  EXPECT_EQ(of({{x, f32({3})}}, {after, total}),
            (std::vector<std::string>{
                "[placeholder] The placeholder 'x' has shape (?, ?) but was fed shape (3,); built at a.py:1.",
                "[placeholder] The placeholder 'y' of shape (?,) is needed but was not fed; built at a.py:2."}));
  EXPECT_EQ(of({{x, f32({3, 3})}, {x, f32({3, 3})}, {after, f32({3, 2})}}, {after}).size(), 2u);
  EXPECT_EQ(of({{x, f32({3, 4})}, {y, f32({4})}}, {}, {write}),
            std::vector<std::string>{"[reduce_like] Shape (3, 4) is not a broadcast of shape (3, 2)."});
}

TEST_F(Mistakes, AreFoundInBranches) {
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({U}));
  const Value v = variable(graph, f32({3}));
  Op* writer = assign(graph, v, v);
  const Op* op = if_else(
      graph, flag,
      [&] {
        graph.after = {writer};
        const Value sum = graph.value(OpCode::add, {x, v});
        graph.after.clear();
        assign(graph, v, sum);
        return std::vector{sum};
      },
      [&] { return std::vector{x}; });
  const Value result = op->result();
  EXPECT_TRUE(of({{flag, bools({})}, {x, f32({3})}}, {result}, {result.op}).empty());
  EXPECT_EQ(of({{flag, bools({})}, {x, f32({2})}}, {result}),
            std::vector<std::string>{"[add] Shapes (2,) and (3,) do not broadcast."});
}

TEST_F(Mistakes, AreNoneInRandomGraphs) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomGraph random(seed);
    std::vector<std::string> problems;
    const Specialized noted = specialize(random.feeds, random.results, random.effects, problems);
    EXPECT_TRUE(problems.empty()) << problems[0] << print(random.graph);
    EXPECT_TRUE(verify(*noted.graph).empty()) << print(random.graph);
  }
}

// ---- data about ops ----

TEST(Inspection, GivesTypesAndCostsAsFarAsTheFeedsTell) {
  Graph graph;
  const Value x = placeholder(graph, f32({U, 3})), w = variable(graph, f32({3, 2}));
  const Value product = graph.value(OpCode::matmul, {x, w});
  Op* write = assign(graph, w, graph.value(OpCode::square, {w}));
  const auto unknown = inspect({}, {product}, {write}), known = inspect({{x, f32({5, 3})}}, {product}, {write});
  ASSERT_EQ(known.size(), 5u);
  ASSERT_EQ(unknown.size(), known.size());
  for (size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(known[i].op, unknown[i].op);
    EXPECT_EQ(known[i].stage, unknown[i].stage);
    const bool depends = known[i].op == x.op || known[i].op == product.op;
    EXPECT_EQ(unknown[i].cost.has_value(), !depends) << known[i].op->info().name;
    ASSERT_TRUE(known[i].cost);
    if (known[i].op == product.op) {
      EXPECT_EQ(known[i].results, std::vector<Type>{f32({5, 2})});
      EXPECT_EQ(unknown[i].results, std::vector<Type>{f32({U, 2})});
      EXPECT_EQ(*known[i].cost, (Cost{2 * 5 * 3 * 2, 4 * (15 + 6), 4 * 10}));
    }
  }
  EXPECT_EQ(error_of([&] { inspect({{x, f32({5, 4})}}, {product}, {}); }),
            "[placeholder] The placeholder has shape (?, 3) but was fed shape (5, 4).");
}

}  // namespace
}  // namespace alloy::test
