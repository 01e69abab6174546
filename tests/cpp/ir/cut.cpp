// Tests steps cut at ops on the host: the work of each part, and the values that pass between parts.
#include "ir/transform/cut.h"

#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"

#include "graph_builder.h"

namespace alloy::test {
namespace {

Value native(Graph& graph, Value x) {
  add_native_function(std::make_shared<Halved>("test.halved", 1, "test.halved_gradient"));
  return graph.value(OpCode::native, {x}, {{Attr::kFunction, std::string("test.halved")}});
}

Cut cut_of(const std::vector<Value>& feeds, const std::vector<Value>& results, const std::vector<Op*>& effects = {}) {
  std::vector<Feed> fed;
  for (const Value& v : feeds) fed.push_back({v, v.type()});
  const Specialized step = specialize(fed, results, effects);
  Cut made = cut(step);
  for (const Part& part : made.parts) EXPECT_EQ(verify(*part.graph), std::vector<std::string>{});
  for (Part& part : made.parts) {
    for (HostCall& call : part.calls) call.op = nullptr;  // of the step, which is freed here
  }
  return made;
}

std::vector<std::string> kinds(const Part& part) {
  std::vector<std::string> out;
  for (const auto& op : part.graph->body().ops) out.emplace_back(op->info().name);
  return out;
}

using Names = std::vector<std::string>;
using Sizes = std::vector<size_t>;

TEST(Cuts, AreWhereOpsOfLibrariesStand) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2}));
  const Value before = graph.value(OpCode::exp, {x}), halved = native(graph, before);
  const Value behind = graph.value(OpCode::add, {halved, y});
  const Cut made = cut_of({x, y}, {behind});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "exp"}));
  EXPECT_EQ(kinds(made.parts[1]), (Names{"placeholder", "placeholder", "add"}));
  EXPECT_EQ(made.parts[0].feeds, Sizes{0});
  EXPECT_EQ(made.parts[1].feeds, Sizes{1});
  ASSERT_EQ(made.parts[0].calls.size(), 1u);
  EXPECT_EQ(made.parts[0].calls[0].operands, made.parts[0].leaving);
  EXPECT_EQ(made.parts[0].calls[0].results, made.parts[1].entering);
  EXPECT_EQ(made.values, (std::vector<Type>{f32({2}), f32({2})}));
  EXPECT_TRUE(made.parts[1].calls.empty() && made.parts[1].leaving.empty());
  EXPECT_EQ(made.parts[1].graph->body().results.size(), 1u);
}

// Work that a call does not need is done after it; values that both need are passed on.
TEST(Cuts, ComputeAsLateAsTheyCan) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value shared = graph.value(OpCode::exp, {x}), aside = graph.value(OpCode::sin, {x});
  const Value halved = native(graph, shared);
  const Value sum = graph.value(OpCode::add, {graph.value(OpCode::add, {halved, shared}), aside});
  const Cut made = cut_of({x}, {sum});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "exp"}));
  EXPECT_EQ(kinds(made.parts[1]), (Names{"placeholder", "placeholder", "sin", "placeholder", "add", "add"}));
  EXPECT_EQ(made.parts[0].leaving.size(), 1u);
  EXPECT_EQ(made.parts[1].entering.size(), 2u);
  EXPECT_EQ(made.parts[1].entering[0], made.parts[0].leaving[0]);
}

// Constants, variables, renamed values and broadcasts are free. Of an operand whose shape alone is read, only the shape
// is kept.
TEST(Cuts, ComputeAgainWhatCostsNothing) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3})), row = placeholder(graph, f32({3})), w = variable(graph, f32({3}));
  const Value wide = graph.value(OpCode::broadcast_like, {graph.value(OpCode::multiply, {row, w}), x});
  const Value halved = native(graph, graph.value(OpCode::add, {graph.value(OpCode::exp, {x}), wide}));
  const Value sum = graph.value(OpCode::add, {graph.value(OpCode::multiply, {halved, wide}), w});
  const Cut made = cut_of({x, row}, {sum});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_EQ(kinds(made.parts[1]),
            (Names{"variable", "placeholder", "empty", "broadcast_like", "placeholder", "multiply", "add"}));
  EXPECT_EQ(made.parts[1].feeds, Sizes{});
  EXPECT_EQ(made.values.size(), 3u);  // the call's operand, its result, and the broadcast operand
}

TEST(Cuts, PassOnWhatCallsMakeOfFeedsVariablesAndEachOther) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), w = variable(graph, f32({2}));
  const Value first = native(graph, x), second = native(graph, first), third = native(graph, w);
  const Cut made = cut_of({x}, {second, graph.value(OpCode::add, {second, third}), x});
  ASSERT_EQ(made.parts.size(), 3u);
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "variable"}));
  EXPECT_EQ(made.parts[0].leaving.size(), 2u);
  EXPECT_EQ(made.parts[0].calls.size(), 2u);
  EXPECT_TRUE(made.parts[1].graph->body().ops.empty());
  ASSERT_EQ(made.parts[1].calls.size(), 1u);
  EXPECT_EQ(made.parts[1].calls[0].operands, made.parts[0].calls[0].results);
  EXPECT_EQ(made.parts[2].graph->body().results.size(), 3u);
  EXPECT_EQ(made.parts[2].feeds, Sizes{0});
}

TEST(Cuts, AssignInTheLastPart) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), w = variable(graph, f32({2}));
  Op* write = assign(graph, w, graph.value(OpCode::exp, {x}));
  const Value halved = native(graph, graph.value(OpCode::add, {x, w}));
  Op* other = assign(graph, variable(graph, f32({2})), halved);
  const Cut made = cut_of({x}, {}, {write, other});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_TRUE(made.parts[0].graph->body().effects.empty());
  EXPECT_EQ(made.parts[1].graph->body().effects.size(), 2u);
  EXPECT_EQ(made.parts[1].entering.size(), 1u);
}

// Loops and conditionals are copied with the outside values that they use.
TEST(Cuts, KeepRegionsWhole) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), flag = placeholder(graph, bools({}));
  const Value halved = native(graph, x), sine = graph.value(OpCode::sin, {x});
  Op* branches = if_else(
      graph, flag, [&] { return std::vector{graph.value(OpCode::add, {halved, sine})}; },
      [&] { return std::vector{native(graph, graph.value(OpCode::exp, {x}))}; });
  const Cut made = cut_of({x, flag}, {branches->result()});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_EQ(kinds(made.parts[1]), (Names{"placeholder", "placeholder", "placeholder", "sin", "if_else"}));
}

// Random numbers are drawn once, even if both parts use them.
TEST(Cuts, ComputeNothingTwiceThatWouldDiffer) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value state = graph.value(OpCode::fresh_random_state, {});
  Op* random = graph.add(OpCode::random, {state, x}, random_attributes("uniform", 0, 1));
  const Value halved = native(graph, random->result());
  const Cut made = cut_of({x}, {graph.value(OpCode::add, {halved, random->result()}), state});
  ASSERT_EQ(made.parts.size(), 2u);
  for (const auto& op : made.parts[1].graph->body().ops) EXPECT_NE(op->code, OpCode::fresh_random_state);
  EXPECT_EQ(made.parts[1].entering.size(), 3u);
}

TEST(Native, GradientsAreOpsOfTheLibrary) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value halved = native(graph, x);
  add_native_function(std::make_shared<Halved>("test.halved_gradient", 3, ""));
  const std::vector<Value> found = gradients(graph, halved, {x});
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0].op->attributes.word(Attr::kFunction), "test.halved_gradient");
  EXPECT_EQ(found[0].op->operands[0], x);
  EXPECT_EQ(found[0].op->operands[1], halved);
  EXPECT_EQ(print(*parse(print(graph))), print(graph));
  EXPECT_EQ(error_of([&] { gradients(graph, found[0], {x}); }), "[test.halved_gradient] The op has no gradient.");
}

TEST(AllReduce, CutsAStepAndKeepsTypes) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), n = placeholder(graph, {DType::int32, Shape({3})});
  const Op* const sums = graph.add(OpCode::all_reduce, {graph.value(OpCode::exp, {x}), n});
  const Cut made = cut_of({x, n}, {sums->result(0), graph.value(OpCode::negative, {sums->result(1)})});
  ASSERT_EQ(made.parts.size(), 2u);
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "placeholder", "exp"}));
  EXPECT_EQ(kinds(made.parts[1]), (Names{"placeholder", "placeholder", "negative"}));
  EXPECT_EQ(sums->results, (std::vector<Type>{f32({2}), n.type()}));
  const Value flag = placeholder(graph, {DType::boolean, Shape({2})});
  EXPECT_EQ(error_of([&] { graph.add(OpCode::all_reduce, {flag}); }),
            "[all_reduce] Expected numbers, which have a sum, got bool(2,).");
}

// Or the first part would compute all that the sum needs, and pass what the others need of it.
TEST(AllReduce, IsMadeAsLateAsItCan) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value aside = graph.value(OpCode::all_reduce, {graph.value(OpCode::exp, {x})});
  const Value first = graph.value(OpCode::all_reduce, {graph.value(OpCode::sin, {x})});
  const Value second = graph.value(OpCode::all_reduce, {graph.value(OpCode::exp, {first})});
  const Cut made = cut_of({x}, {graph.value(OpCode::add, {second, aside})});
  ASSERT_EQ(made.parts.size(), 3u);
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "sin"}));
  EXPECT_EQ(made.parts[0].calls.size(), 1u);
  EXPECT_EQ(kinds(made.parts[1]), (Names{"placeholder", "exp", "placeholder", "exp"}));
  EXPECT_EQ(made.parts[1].calls.size(), 2u);
}

// Or no sum of a cast gradient could begin before all gradients are computed: the casts are written behind them.
TEST(AllReduce, OfACastBeginsOnceItsOperandIsComputed) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value first = graph.value(OpCode::sin, {x}), second = graph.value(OpCode::exp, {first});
  const auto half = [&](Value v) { return graph.value(OpCode::cast, {v}, {{Attr::kDtype, DType::bfloat16}}); };
  const Value others = half(first), halved = half(first);
  const Op* const sums = graph.add(OpCode::all_reduce, {halved, half(half(second))});
  const Cut made = cut_of({x}, {sums->result(0), sums->result(1), others});
  EXPECT_EQ(kinds(made.parts[0]), (Names{"placeholder", "sin", "cast", "exp", "cast", "cast"}));
}

// The loss is the sum of the processes' losses. Gradients travel together, and only those that are wanted.
TEST(AllReduce, GradientsAreSumsOfGradients) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({2})), z = placeholder(graph, f32({2}));
  const Op* const sums = graph.add(OpCode::all_reduce, {x, y, z});
  const Value loss = graph.value(OpCode::multiply, {sums->result(0), sums->result(1)});
  const std::vector<Value> found = gradients(graph, loss, {x, y, z});
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_FALSE(found[2]);
  EXPECT_EQ(found[0].op->code, OpCode::all_reduce);
  EXPECT_EQ(found[0].op, found[1].op);
  EXPECT_EQ(found[0].op->operands.size(), 2u);
  EXPECT_EQ(print(*parse(print(graph))), print(graph));
}

TEST(Native, RefusesWhatItDoesNotKnow) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const auto said = [&](const std::string& function, std::vector<Value> operands) {
    return error_of([&] { graph.add(OpCode::native, operands, {{Attr::kFunction, function}}); });
  };
  native(graph, x);
  EXPECT_EQ(said("test.nothing", {x}),
            "[test.nothing] No library that is loaded has this op; al.load_op_library loads one.");
  EXPECT_EQ(said("test.halved", {x, x}), "[test.halved] Expected 1 operands, got 2.");
  const Value z = placeholder(graph, {DType::complex64, Shape({2})});
  EXPECT_EQ(said("test.halved", {z}), "[test.halved] Expected no complex numbers, got complex64(2,).");
  EXPECT_FALSE(add_native_function(std::make_shared<Halved>("test.halved", 2, "")));
}

}  // namespace
}  // namespace alloy::test
