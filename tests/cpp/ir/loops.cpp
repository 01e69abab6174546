// Tests regions with arguments, by the loops that have them: errors of add() and verify(), the text form, types,
// copies, effects and costs.
#include "ir/grammar.h"
#include "ir/rules/cost.h"
#include "ir/text/inspect.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

#include "graph_builder.h"

namespace alloy::test {
namespace {

Value number(Graph& graph, double value) { return constant(graph, i32({}), value); }

// Doubles x while its greatest element is below y, and counts.
struct Doubling {
  Graph graph;
  Value x, y;
  Op* loop = nullptr;

  explicit Doubling(const Type& type = f32({2})) {
    x = placeholder(graph, type);
    y = placeholder(graph, f32({}));
    loop = while_loop(
        graph, {x, number(graph, 0)},
        [&](const std::vector<Value>& a) {
          const Value most = graph.value(OpCode::max, {a[0]}, {{Attr::kAxes, Dims{0}}});
          return std::vector{graph.value(OpCode::less, {most, y}), a[1], a[0]};
        },
        [&](const std::vector<Value>& a) {
          return std::vector{graph.value(OpCode::add, {a[1], a[1]}),
                             graph.value(OpCode::add, {a[0], number(graph, 1)})};
        });
    graph.body().results = {{loop, 1}};
  }

  std::string first_problem() const {
    const std::vector<std::string> problems = verify(graph);
    return problems.empty() ? "legal" : problems.front();
  }
  Op& argument(size_t region, size_t i) { return *loop->regions[region]->arguments[i]; }
};

// The first problem after an edit by hand.
std::string problem_after(const std::function<void(Doubling&)>& edit) {
  Doubling g;
  edit(g);
  return g.first_problem();
}

// ---- the text form ----

const std::string kDoubling = R"(graph {
  %0 = placeholder() {shape = (2,), dtype = float32} : float32(2,)
  %1 = placeholder() {shape = (), dtype = float32} : float32()
  %2 = constant() {value = int32()[0]} : int32()
  %3 = while_loop(%0, %2) : int32(), float32(2,)
  region (%4 : float32(2,), %5 : int32()) {
    %6 = max(%4) {axes = [0]} : float32(1,)
    %7 = less(%6, %1) : bool(1,)
    return (%7, %5, %4)
  }
  region (%8 : int32(), %9 : float32(2,)) {
    %10 = add(%9, %9) : float32(2,)
    %11 = constant() {value = int32()[1]} : int32()
    %12 = add(%8, %11) : int32()
    return (%10, %12)
  }
  return (%3#1)
}
)";

TEST(Loops, HaveAText) {
  EXPECT_EQ(print(Doubling().graph), kDoubling);
  const std::unique_ptr<Graph> again = parse(kDoubling);
  EXPECT_EQ(print(*again), kDoubling);
  EXPECT_EQ(verify(*again), std::vector<std::string>{});
}

// The error of parsing after one piece of the text is replaced.
std::string parse_mistake(const std::string& piece, const std::string& other) {
  std::string text = kDoubling;
  const size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  text.replace(at, piece.size(), other);
  return error_of([&] { parse(text); });
}

TEST(Loops, NameTheLineOfAMistakeInTheText) {
  EXPECT_EQ(parse_mistake("%5 : int32()", "%4 : int32()"), "[parse] %4 is defined twice; line 6.");
  EXPECT_EQ(parse_mistake("%5 : int32()", "%0 : int32()"), "[parse] %0 is defined twice; line 6.");
  EXPECT_EQ(parse_mistake("%5 : int32()", "%5 = int32()"), "[parse] Expected ':'; line 6.");
  EXPECT_EQ(parse_mistake("%5 : int32()", ""), "[parse] Expected '%'; line 6.");
  EXPECT_EQ(parse_mistake("%5 : int32()) {", "%5 : int32() {"), "[parse] Expected ')'; line 6.");
  EXPECT_EQ(parse_mistake("return (%10, %12)", "return (%10, %5)"),
            "[parse] %5 is not defined before its use; line 15.");
  EXPECT_EQ(parse_mistake("return (%3#1)", "return (%4)"), "[parse] %4 is not defined before its use; line 17.");
  EXPECT_EQ(parse_mistake("%5 : int32())", "%5 : int64())"),
            "[while_loop] Argument 1 of region 0 is int64() and is passed int32(); built at line 5.");
  EXPECT_EQ(parse_mistake("%11 = constant()", "%11 = argument()"),
            "[argument] Arguments stand at the head of a region, not among its ops; built at line 13.");
}

// ---- the grammar ----

TEST(Loops, AreRefusedWhereWhatTheyCarryDoesNotAgree) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), flag = constant(graph, bools({}), 0);
  const auto mistake = [&](const std::vector<Value>& initial, const std::vector<Value>& before,
                           const std::vector<Value>& after) {
    return error_of([&] {
      while_loop(
          graph, initial, [&](const std::vector<Value>&) { return before; },
          [&](const std::vector<Value>&) { return after; });
    });
  };
  const Value wide = placeholder(graph, f32({2, 2})), half = placeholder(graph, {DType::float16, Shape({2})});
  EXPECT_EQ(mistake({x}, {flag}, {x}), "no error");
  EXPECT_EQ(mistake({}, {flag, x, wide}, {}), "no error");
  EXPECT_EQ(mistake({x}, {}, {x}), "[while_loop] Expected 1 or more results of region 0, got 0.");
  EXPECT_EQ(mistake({x}, {x, x}, {x}), "[while_loop] Expected a predicate of one element, got float32(2,).");
  EXPECT_EQ(mistake({x}, {flag, x}, {}), "[while_loop] The loop begins with 1 values and an iteration gives 0.");
  EXPECT_EQ(mistake({x}, {flag, x}, {x, x}), "[while_loop] The loop begins with 1 values and an iteration gives 2.");
  EXPECT_EQ(mistake({x}, {flag, x}, {wide}),
            "[while_loop] Value 0 is float32(2,) before an iteration and float32(2, 2) behind it.");
  EXPECT_EQ(mistake({x}, {flag, x}, {half}),
            "[while_loop] Value 0 is float32(2,) before an iteration and float16(2,) behind it.");
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
  EXPECT_EQ(error_of([&] { graph.add(OpCode::while_loop, {x}); }), "[while_loop] Expected 2 regions.");
  EXPECT_EQ(error_of([&] { graph.value(OpCode::argument, {}, {{Attr::kShape, Shape()}, {Attr::kDtype, x.dtype()}}); }),
            "[argument] Arguments stand at the head of a region, not among its ops.");
}

TEST(Loops, CountByIntegersOfOneElement) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), zero = number(graph, 0), n = placeholder(graph, i32({1}));
  const auto mistake = [&](const std::vector<Value>& bounds, const std::vector<Value>& given) {
    return error_of([&] { for_loop(graph, bounds, {x}, [&](const std::vector<Value>&) { return given; }); });
  };
  const Value one = number(graph, 1), less = number(graph, -1), large = constant(graph, {DType::int64, Shape()}, 1);
  EXPECT_EQ(mistake({zero, n, one}, {x}), "no error");
  EXPECT_EQ(mistake({zero, n, n}, {x}), "no error");
  EXPECT_EQ(mistake({zero, n, zero}, {x}), "[for_loop] Expected a step above 0, got 0.");
  EXPECT_EQ(mistake({zero, n, less}, {x}), "[for_loop] Expected a step above 0, got -1.");
  EXPECT_EQ(mistake({zero, n, large}, {x}), "[for_loop] Expected bounds and a step of one integer type, got int64().");
  const Value f = constant(graph, f32({}), 1);
  EXPECT_EQ(mistake({f, f, f}, {x}), "[for_loop] Expected bounds and a step of one integer type, got float32().");
  EXPECT_EQ(mistake({zero, constant(graph, i32({2}), 1), one}, {x}),
            "[for_loop] Expected bounds and a step of one element, got int32(2,).");
  EXPECT_EQ(mistake({zero, n, one}, {}), "[for_loop] The loop begins with 1 values and an iteration gives 0.");
  EXPECT_EQ(mistake({zero, n, one}, {n}),
            "[for_loop] Value 0 is float32(2,) before an iteration and int32(1,) behind it.");
}

TEST(Loops, ThatAreBrokenAreFound) {
  EXPECT_EQ(Doubling().first_problem(), "legal");
  EXPECT_EQ(problem_after([](Doubling& g) { g.loop->regions[0]->arguments.pop_back(); }),
            "[while_loop #12] Expected 2 arguments of region 0, got 1");
  EXPECT_EQ(problem_after([](Doubling& g) { g.argument(0, 0).results[0] = f32({3}); }),
            "[argument #3] has results other than its rule gives");
  {
    Doubling g;
    g.argument(1, 0).attributes.set(Attr::kDtype, DType::int64);
    g.argument(1, 0).results[0].dtype = DType::int64;
    const std::vector<std::string> problems = verify(g.graph);
    EXPECT_NE(std::find(problems.begin(), problems.end(),
                        "[while_loop] Argument 0 of region 1 is int64() and is passed int32()."),
              problems.end());
  }
  EXPECT_EQ(problem_after([](Doubling& g) { g.argument(0, 0).block = &g.graph.body(); }),
            "[argument #3] stands in a block that does not hold it");
  // An argument is not seen outside its region, ...
  EXPECT_EQ(
      problem_after([](Doubling& g) { g.graph.value(OpCode::exp, {g.x}).op->operands[0] = {&g.argument(0, 0), 0}; }),
      "[exp #13] uses a value that is not defined before it");
  // ... nor in the other one.
  EXPECT_EQ(problem_after([](Doubling& g) { g.loop->regions[1]->results[1] = {&g.argument(0, 1), 0}; }),
            "[block] returns a value that is not defined in it");
  EXPECT_EQ(problem_after([](Doubling& g) {
              auto& arguments = g.loop->regions[0]->arguments;
              g.graph.body().arguments.push_back(std::move(arguments.back()));
              arguments.pop_back();
            }),
            "[argument #4] stands in the body, which has no arguments");
}

TEST(Loops, ArgumentsAndOpsAreKeptApart) {
  Doubling g;
  std::swap(g.loop->regions[0]->arguments[0]->code, g.loop->regions[0]->ops[0]->code);
  const std::vector<std::string> problems = verify(g.graph);
  EXPECT_NE(std::find(problems.begin(), problems.end(), "[max #3] stands among arguments"), problems.end());
  EXPECT_NE(std::find(problems.begin(), problems.end(), "[argument #5] stands among the ops of a block"),
            problems.end());
}

TEST(Loops, OnlyTheyHaveArguments) {
  Graph graph;
  const Value flag = placeholder(graph, bools({}));
  std::vector<std::unique_ptr<Block>> regions;
  for (int k = 0; k < 2; ++k) {
    graph.open_region({f32({2})});
    regions.push_back(graph.close_region({}));
  }
  EXPECT_EQ(error_of([&] { graph.add(OpCode::if_else, {flag}, {}, std::move(regions)); }),
            "[if_else] Expected 0 arguments of region 0, got 1.");
}

// ---- copies ----

TEST(Loops, AreSpecialisedByWhatTheyBeginWith) {
  Doubling g(f32({U}));
  EXPECT_EQ(g.loop->results[1], f32({U}));
  const Specialized special = specialize({{g.x, f32({2})}, {g.y, f32({})}}, {{g.loop, 1}}, {});
  EXPECT_EQ(print(*special.graph), kDoubling);
  EXPECT_EQ(captures(*g.loop), std::vector<Value>{g.y});
  EXPECT_EQ(print(*Rewriter([](Rewriter&, const Op&, const std::vector<Value>&) {
                     return Replacement();
                   }).run(Doubling().graph)),
            kDoubling)
      << "with arguments that nobody uses";
}

// An iteration that returns another shape is a mistake once the shapes are known.
TEST(Loops, KeepTheShapesOfWhatTheyCarry) {
  Graph graph;
  const Value x = placeholder(graph, f32({U, 2})), three = number(graph, 3);
  graph.location = "model.py:3";
  Op* loop = for_loop(graph, {number(graph, 0), three, number(graph, 1)}, {x}, [&](const std::vector<Value>& a) {
    return std::vector{graph.value(OpCode::concat, {a[1], x}, {{Attr::kAxis, int64_t{0}}})};
  });
  std::vector<std::string> problems;
  specialize({{x, f32({4, 2})}}, {{loop, 0}}, {}, problems);
  EXPECT_EQ(problems, std::vector<std::string>{"[for_loop] Value 0 is float32(4, 2) before an iteration and "
                                               "float32(8, 2) behind it; built at model.py:3."});
  EXPECT_EQ(error_of([&] { specialize({{x, f32({4, 2})}}, {{loop, 0}}, {}); }), problems[0]);
}

// ---- effects ----

TEST(Loops, CarryWhatTheyAssign) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  const Value v = variable(graph, f32({2}), 1), w = variable(graph, f32({2}), 2);
  Op* first = assign(graph, w, x);
  Op* loop = while_loop(
      graph, {},
      [&](const std::vector<Value>&) {
        assign(graph, v, graph.value(OpCode::add, {read(graph, v), w}));
        return std::vector{graph.value(OpCode::max, {read(graph, v)}, {{Attr::kAxes, Dims{0}}})};
      },
      [&](const std::vector<Value>&) {
        assign(graph, w, read(graph, v));
        return std::vector<Value>();
      });
  graph.body().results = {read(graph, w)};
  graph.body().effects = {first, loop};
  const Pure pure = remove_effects(graph);
  EXPECT_EQ(verify(*pure.graph), std::vector<std::string>{});
  EXPECT_EQ(pure.slots, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(print(*pure.graph), R"(graph {
  %0 = placeholder() {shape = (2,), dtype = float32} : float32(2,)
  %1 = variable() {value = float32(2,)[1 ...], slot = 0} : float32(2,)
  %2 = variable() {value = float32(2,)[2 ...], slot = 1} : float32(2,)
  %3 = while_loop(%1, %0) : float32(2,), float32(2,)
  region (%4 : float32(2,), %5 : float32(2,)) {
    %6 = add(%4, %2) : float32(2,)
    %7 = max(%6) {axes = [0]} : float32(1,)
    %8 = cast(%7) {dtype = bool} : bool(1,)
    return (%8, %6, %5)
  }
  region (%9 : float32(2,), %10 : float32(2,)) {
    return (%9, %9)
  }
  return (%3#1, %3, %3#1)
}
)");
}

// ---- costs and gradients ----

TEST(Loops, CostTheirRegionsAsOftenAsConstantsSay) {
  Doubling g;
  // max, less and one addition of two elements, one of a number.
  EXPECT_EQ(cost(*g.loop).flops, 2u + 1u + 2u + 1u);
  Graph graph;
  const Value x = placeholder(graph, f32({5})), n = placeholder(graph, i32({}));
  const auto flops = [&](Value lower, Value upper, Value step) {
    return cost(*for_loop(graph, {lower, upper, step}, {x},
                          [&](const std::vector<Value>& a) { return std::vector{graph.value(OpCode::exp, {a[1]})}; }))
        .flops;
  };
  EXPECT_EQ(flops(number(graph, 0), number(graph, 7), number(graph, 1)), 7u * 5u);
  EXPECT_EQ(flops(number(graph, 1), number(graph, 8), number(graph, 3)), 3u * 5u);
  EXPECT_EQ(flops(number(graph, 1), number(graph, 7), number(graph, 3)), 2u * 5u);
  EXPECT_EQ(flops(number(graph, 3), number(graph, 3), number(graph, 3)), 0u);
  EXPECT_EQ(flops(number(graph, 3), number(graph, -3), number(graph, 3)), 0u);
  EXPECT_EQ(flops(number(graph, 0), n, number(graph, 1)), 5u);
}

TEST(Loops, HaveNoGradient) {
  Doubling g;
  const Value loss = g.graph.value(OpCode::exp, {{g.loop, 1}});
  EXPECT_EQ(error_of([&] { gradients(g.graph, loss, {g.x}); }),
            "[while_loop] A loop that ends by a predicate has no gradient.");
  EXPECT_EQ(error_of([&] { gradients(g.graph, loss, {g.y}); }),
            "[while_loop] A loop that ends by a predicate has no gradient.")
      << "through what it captures";
  // A gradient with respect to the loop's results does not pass through it, ...
  EXPECT_TRUE(gradients(g.graph, loss, {{g.loop, 1}})[0]);
  // ... nor one with respect to a value that the loop does not use.
  const Value other = placeholder(g.graph, f32({2}));
  EXPECT_TRUE(gradients(g.graph, g.graph.value(OpCode::add, {loss, other}), {other})[0]);
  EXPECT_EQ(verify(g.graph), std::vector<std::string>{});
}

// ---- order ----

TEST(Loops, StandBehindWhatTheyUse) {
  Doubling g;
  EXPECT_EQ(live_ops({{g.loop, 1}}, {}).size(), 4u);
  const auto found = stages({{g.loop, 1}}, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1], std::vector<Op*>{g.loop});
  const std::vector<Inspected> ops = inspect({}, {{g.loop, 1}}, {});
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(ops.back().results, (std::vector<Type>{i32({}), f32({2})}));
}

// ---- stacked values ----

TEST(Loops, StackWhatTheyGiveBesideWhatTheyCarry) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), n = placeholder(graph, i32({}));
  const auto stacked = [&](Value upper, double step) {
    Op* loop = for_loop(graph, {number(graph, 1), upper, number(graph, step)}, {x},
                        [&](const std::vector<Value>& a) { return std::vector{a[1], a[0], x}; });
    return loop->results;
  };
  EXPECT_EQ(stacked(number(graph, 8), 3), (std::vector<Type>{f32({2}), i32({3}), f32({3, 2})}));
  EXPECT_EQ(stacked(number(graph, 1), 3), (std::vector<Type>{f32({2}), i32({0}), f32({0, 2})}));
  EXPECT_EQ(stacked(n, 1), (std::vector<Type>{f32({2}), i32({U}), f32({U, 2})}));
  EXPECT_EQ(verify(graph), std::vector<std::string>{});
}

// Carried values for assigned variables come before stacked ones.
TEST(Loops, KeepTheirStacksWithoutEffects) {
  Graph graph;
  const Value x = placeholder(graph, f32({2})), v = variable(graph, f32({2}));
  Op* loop =
      for_loop(graph, {number(graph, 0), number(graph, 3), number(graph, 1)}, {x}, [&](const std::vector<Value>& a) {
        assign(graph, v, a[1]);
        return std::vector{graph.value(OpCode::exp, {a[1]}), a[0]};
      });
  graph.body().results = {{loop, 1}, {loop, 0}};
  graph.body().effects = {loop};
  const Pure pure = remove_effects(graph);
  EXPECT_EQ(verify(*pure.graph), std::vector<std::string>{});
  const std::vector<Value>& results = pure.graph->body().results;
  ASSERT_EQ(results.size(), 3);
  EXPECT_EQ(results[0].type(), i32({3}));
  EXPECT_EQ(results[1].type(), f32({2}));
  EXPECT_EQ(results[2].type(), f32({2}));
  const std::unique_ptr<Graph> carried = carry_stacks(*pure.graph);
  EXPECT_EQ(verify(*carried), std::vector<std::string>{});
  const Op& made = *carried->body().results[0].op;
  EXPECT_EQ(made.operands.size(), made.results.size() + 3);
}

// A value that only a gradient needs is stacked only if the gradient is requested.
TEST(Loops, AreCopiedWithoutStacksThatNothingNeeds) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  Op* loop = for_loop(graph, {number(graph, 0), number(graph, 3), number(graph, 1)}, {x},
                      [&](const std::vector<Value>& a) { return std::vector{graph.value(OpCode::tanh, {a[1]})}; });
  const Value gradient = gradients(graph, {loop, 0}, {x})[0];
  EXPECT_GT(loop->results.size(), 1);
  const auto copied = [&](Value result) {
    const Specialized special = specialize({{x, x.type()}}, {result}, {});
    EXPECT_EQ(verify(*special.graph), std::vector<std::string>{});
    size_t stacks = 0;
    for (const auto& op : special.graph->body().ops) {
      if (op->code == OpCode::for_loop) stacks += op->results.size() + 3 - op->operands.size();
    }
    return stacks;
  };
  EXPECT_EQ(copied({loop, 0}), 0);
  EXPECT_EQ(copied(gradient), 2) << "what it carries, and the index, of which the number of iterations is read";
}

TEST(Loops, HaveAGradientWhereTheirCountIsKnownBeforeARun) {
  Graph graph;
  const Value x = placeholder(graph, f32({U, 2})), n = placeholder(graph, i32({})), v = placeholder(graph, f32({2}));
  const auto mistake = [&](Value upper) {
    Op* loop = for_loop(graph, {number(graph, 0), upper, number(graph, 1)}, {v},
                        [&](const std::vector<Value>& a) { return std::vector{graph.value(OpCode::exp, {a[1]})}; });
    return error_of([&] { gradients(graph, {loop, 0}, {v}); });
  };
  EXPECT_EQ(mistake(n),
            "[for_loop] A loop has a gradient only if it is known before the run how often it runs: if its bounds and "
            "its step are constants, or are made of shapes.");
  const Value rows = graph.value(OpCode::slice, {graph.value(OpCode::shape_of, {x})}, slicing({0}, {1}, {1}));
  EXPECT_EQ(mistake(rows), "no error");
}

}  // namespace
}  // namespace alloy::test
