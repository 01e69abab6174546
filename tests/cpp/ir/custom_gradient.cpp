// Tests custom gradients: the legal forms of the op, and the passes over it.
#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

#include "graph_builder.h"

namespace alloy::test {
namespace {

// sin x with a custom gradient: the incoming gradient times slope(x).
struct Sine {
  Graph graph;
  Value x = placeholder(graph, f32({U, 3})), sine = graph.value(OpCode::sin, {x}), kept;
  Op* op = nullptr;

  Sine() {
    kept = graph.value(OpCode::exp, {x});
    const Attributes one{{Attr::kCount, int64_t{1}}};
    const std::vector<Value> g = graph.open_region(argument_types(OpCode::custom_gradient, {sine}, {}, one));
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(graph.close_region({graph.value(OpCode::multiply, {g[0], kept})}));
    op = graph.add(OpCode::custom_gradient, {sine, x}, one, std::move(regions));
  }
};

TEST(CustomGradient, IsWhatItsRegionSays) {
  Sine g;
  EXPECT_EQ(g.op->results, (std::vector<Type>{f32({U, 3})}));
  const std::vector<Value> found = gradients(g.graph, g.op->result(), {g.x});
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0].op->code, OpCode::multiply);
  EXPECT_EQ(found[0].op->operands[1], g.kept);
  EXPECT_EQ(verify(g.graph), std::vector<std::string>{});
  const auto again = parse(print(g.graph));
  EXPECT_EQ(print(*again), print(g.graph));
}

// Values that only the gradient uses are not computed in a run without it.
TEST(CustomGradient, NeedsNothingUnlessItIsAskedFor) {
  Sine g;
  EXPECT_EQ(live_ops({g.op->result()}, {}).size(), 3u);
  EXPECT_EQ(live_ops({g.op->result()}, {}, For::kGradients).size(), 4u);
  const Specialized special = specialize({{g.x, f32({2, 3})}}, {g.op->result()}, {});
  ASSERT_EQ(special.graph->body().ops.size(), 3u);
  const Op& left = *special.graph->body().ops.back();
  EXPECT_EQ(left.code, OpCode::custom_gradient);
  EXPECT_EQ(left.operands.size(), 1u);
  EXPECT_EQ(left.results, (std::vector<Type>{f32({2, 3})}));
  EXPECT_EQ(verify(*special.graph), std::vector<std::string>{});
}

TEST(CustomGradient, IsOfItsOperandsTypes) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), y = placeholder(graph, f32({U})), z = placeholder(graph, f32({3})),
              n = placeholder(graph, i32({2}));
  const auto said = [&](std::vector<Value> operands, int64_t count, std::vector<Value> given) {
    return error_of([&] {
      graph.open_region(std::vector<Type>(static_cast<size_t>(count), x.type()));
      std::vector<std::unique_ptr<Block>> regions;
      regions.push_back(graph.close_region(given));
      graph.add(OpCode::custom_gradient, operands, {{Attr::kCount, count}}, std::move(regions));
    });
  };
  EXPECT_EQ(said({x, x}, 1, {y}), "no error");
  EXPECT_EQ(said({x, x}, 1, {z}),
            "[custom_gradient] Expected a gradient of the type of its operand, float32(2,), got float32(3,).");
  EXPECT_EQ(said({x, x}, 1, {n}),
            "[custom_gradient] Expected a gradient of the type of its operand, float32(2,), got int32(2,).");
  EXPECT_EQ(said({x, x, y}, 1, {x}), "[custom_gradient] Expected a gradient for each of 2 operands, got 1.");
  EXPECT_EQ(said({x}, 0, {}), "[custom_gradient] Expected a count of 1 to 1, got 0.");
  EXPECT_EQ(said({x}, 2, {}), "[custom_gradient] Expected a count of 1 to 1, got 2.");
  EXPECT_EQ(said({x, x}, 2, {}), "no error");
}

// The values from which a derivative flows to a result, but not through the operands.
TEST(CustomGradient, OverlooksNothing) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), w = variable(graph, f32({2})), n = placeholder(graph, i32({2}));
  const Value y = graph.value(OpCode::multiply, {graph.value(OpCode::exp, {x}), w});
  EXPECT_EQ(overlooked({y}, {x}), w);
  EXPECT_EQ(overlooked({y}, {w}), x);
  EXPECT_FALSE(overlooked({y}, {x, w}));
  EXPECT_FALSE(overlooked({y}, {y}));
  EXPECT_FALSE(overlooked({graph.value(OpCode::stop_gradient, {y})}, {}));
  EXPECT_FALSE(overlooked({graph.value(OpCode::cast, {n}, {{Attr::kDtype, DType::float32}})}, {}));
  EXPECT_FALSE(overlooked({graph.value(OpCode::broadcast_like, {constant(graph, f32({}), 1), x})}, {}));
  const Value flag = placeholder(graph, bools({}));
  Op* const branches = if_else(graph, flag, [&] { return std::vector{x}; }, [&] { return std::vector{w}; });
  EXPECT_EQ(overlooked({branches->result()}, {x}), w);
}

}  // namespace
}  // namespace alloy::test
