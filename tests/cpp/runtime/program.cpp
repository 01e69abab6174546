// Compares compiled programs with the interpreter: random graphs and the few forms of state that matter, run more than
// once.
#include "runtime/program.h"
#include "cpu/device.h"

#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/rewrite.h"
#include "random_graph.h"
#include "tensor.h"

namespace alloy::runtime {
namespace {

using namespace test;

device::Device& cpu() { return cpu::cpu_device(); }

Program compile(const std::vector<Feed>& feeds, const std::vector<Value>& results, const std::vector<Op*>& effects) {
  return Program(cpu(), std::make_shared<device::Arena>(cpu()), feeds, results, effects);
}

// The host's bytes as a packed array on the device.
device::ArrayMemory array_over(void* bytes, const Type& type) {
  device::ArrayLayout layout;
  layout.rank = 1;
  layout.lengths[0] = static_cast<size_t>(type.shape.element_count());
  layout.element_bytes = size_of(type.dtype);
  layout.pack();
  return {&cpu(), cpu().adopt(bytes, type.byte_count(), nullptr), layout};
}

void run_now(Program& program, const device::Arguments& arguments) {
  const std::unique_ptr<device::Stream> stream = cpu().make_stream();
  device::Outcome outcome;
  program.run(arguments, *stream, outcome);
}

// A program with the memory of its variables.
class Runner {
 public:
  Runner(const Graph& graph, const std::vector<Feed>& feeds, const std::vector<Value>& results,
         const std::vector<Op*>& effects)
      : program_(compile(feeds, results, effects)) {
    for (const auto& op : graph.body().ops) {
      if (op->code != OpCode::variable) continue;
      const Literal& initial = *op->attributes.get<LiteralRef>(Attr::kValue);
      Tensor& memory = variables_.emplace(op->attributes.integer(Attr::kSlot), Tensor(initial.type())).first->second;
      initial.fill(memory.bytes.data());
    }
  }

  std::vector<Array> run(const std::vector<std::pair<Value, Array>>& feeds) {
    std::vector<Tensor> in, out;
    std::vector<device::ArrayMemory> in_arrays, out_arrays;
    std::vector<std::shared_ptr<device::Storage>> variables;
    for (size_t i = 0; i < feeds.size(); ++i) in.emplace_back(program_.feed_types()[i], feeds[i].second);
    const std::vector<Tensor> fed = in;
    for (Tensor& t : in) in_arrays.push_back(array_over(t.bytes.data(), t.type));
    for (auto& [slot, variable] : variables_) {
      variables.resize(static_cast<size_t>(slot) + 1);
      variables.back() = cpu().adopt(variable.bytes.data(), variable.bytes.size(), nullptr);
    }
    for (const Type& type : program_.result_types()) out.emplace_back(type);
    for (Tensor& t : out) {
      std::fill(t.bytes.begin(), t.bytes.end(), std::byte{0xa5});
      out_arrays.push_back(array_over(t.bytes.data(), t.type));
    }
    run_now(program_, {in_arrays, out_arrays, variables, {}});
    std::vector<Array> results;
    for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(in[i].bytes, fed[i].bytes) << "a run wrote into its feeds";
    for (const Tensor& t : out) results.push_back(t.array());
    return results;
  }

  Array variable(int64_t slot) const { return variables_.at(slot).array(); }
  const Program& program() const { return program_; }

 private:
  Program program_;
  std::map<int64_t, Tensor> variables_;
};

void expect_near(const Array& actual, const Array& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual.values[i], expected.values[i], 1e-4 * (1 + std::fabs(expected.values[i]))) << "element " << i;
  }
}

TEST(Program, ComputesWhatRandomGraphsMean) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    random.graph.body().results = random.results;
    random.graph.body().effects = random.effects;
    SCOPED_TRACE(print(random.graph));
    Runner runner(random.graph, random.feeds, random.results, random.effects);
    Interpreter interpreter;
    for (int run = 0; run < 3; ++run) {
      SCOPED_TRACE("run " + std::to_string(run));
      const auto feeds = random.random_feeds();
      const std::vector<Array> expected = interpreter.run(feeds, random.results, random.effects),
                               actual = runner.run(feeds);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) expect_near(actual[i], expected[i]);
      for (const auto& [slot, array] : interpreter.state) expect_near(runner.variable(slot), array);
      if (HasFailure()) return;
    }
  }
}

// Gradients of random graphs, through conditionals too.
TEST(Program, ComputesGradientsOfRandomGraphs) {
  int compared = 0;
  for (uint32_t seed = 5000; seed < 5400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    std::vector<Value> targets;
    for (const Feed& f : random.feeds) {
      if (f.type.dtype == DType::float32) targets.push_back(f.placeholder);
    }
    std::vector<Value> wanted;
    for (const Value& v : std::vector<Value>(random.results)) {
      std::vector<Value> found;
      // Optimizer steps have no gradient; the graph stays usable.
      if (error_of([&] { found = gradients(random.graph, v, targets); }) != "no error") continue;
      for (const Value& gradient : found) {
        if (gradient) wanted.push_back(gradient);
      }
    }
    ASSERT_EQ(verify(random.graph), std::vector<std::string>{});
    if (wanted.empty()) continue;
    ++compared;
    const auto feeds = random.random_feeds();
    Runner runner(random.graph, random.feeds, wanted, {});
    const std::vector<Array> expected = Interpreter().run(feeds, wanted, {}), actual = runner.run(feeds);
    for (size_t i = 0; i < actual.size(); ++i) {
      for (size_t k = 0; k < actual[i].size(); ++k) {
        const double reference = expected[i].values[k];
        ASSERT_NEAR(actual[i].values[k], reference, 1e-3 * (1 + std::fabs(reference)))
            << "gradient " << i << ", element " << k;
      }
    }
  }
  EXPECT_GT(compared, 100);
}

// ---- state ----

double only(const Array& array) { return array.values.at(0); }

// If the kernel wants packed weights, they are packed when they are new and not again; but in every run if the caller
// cannot tell whether they changed, or if the run itself changes them.
TEST(Program, WeightsAreLaidOutOnceAVersion) {
  Graph graph;
  const Value x = placeholder(graph, f32({1, 6, 6, 16})), w = variable(graph, f32({3, 3, 16, 32}), 1);
  const Value y = graph.value(OpCode::conv2d, {x, w}, convolution("valid", 1));
  Program program = compile({{x, x.type()}}, {y}, {});
#ifdef __aarch64__
  if (program.plan().packed_weights.empty()) GTEST_SKIP() << "kernels for vectors of NEON take weights as they are";
#endif
  ASSERT_EQ(program.plan().packed_weights.size(), 1u);
  std::vector<float> images(6 * 6 * 16, 1), weights(3 * 3 * 16 * 32, 1), out(4 * 4 * 32);
  const auto result = [&](std::optional<uint64_t> version, float weight) {
    std::fill(weights.begin(), weights.end(), weight);
    const device::ArrayMemory feeds[] = {array_over(images.data(), x.type())},
                              results[] = {array_over(out.data(), y.type())};
    const std::shared_ptr<device::Storage> variables[] = {cpu().adopt(weights.data(), w.type().byte_count(), nullptr)};
    using Versions = std::span<const uint64_t>;
    run_now(program, {feeds, results, variables, version ? Versions(&*version, 1) : Versions()});
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [&](float v) { return v == out[0]; }));
    return out[0] / (3 * 3 * 16);
  };
  EXPECT_EQ(result(7, 1), 1);
  EXPECT_EQ(result(7, 2), 1) << "the same version";
  EXPECT_EQ(result(8, 2), 2);
  EXPECT_EQ(result(0, 3), 3);
  EXPECT_EQ(result(0, 4), 3);
  EXPECT_EQ(result({}, 4), 4);
  EXPECT_EQ(result({}, 5), 5);
  EXPECT_EQ(result(0, 6), 6);
  const int threads = cpu().threads();
  cpu().set_threads(threads + 1);
  EXPECT_EQ(result(0, 7), 7) << "the kernels are new";
  cpu().set_threads(threads);

  Op* write = assign(graph, w, graph.value(OpCode::add, {w, w}));
  EXPECT_TRUE(compile({{x, x.type()}}, {y}, {write}).plan().packed_weights.empty());
}

TEST(Program, ReadsAroundAnAssignmentDiffer) {
  Graph graph;
  const Value v = variable(graph, f32({}), 1), x = placeholder(graph, f32({}));
  const Value before = read(graph, v);
  Op* write = assign(graph, v, x);
  const Value after = read(graph, v);
  Runner runner(graph, {{x, x.type()}}, {before, after, v}, {write});
  const std::vector<Array> out = runner.run({{x, Array({}, {5})}});
  EXPECT_EQ(only(out[0]), 1);
  EXPECT_EQ(only(out[1]), 5);
  EXPECT_EQ(only(out[2]), 1);
}

// An assignment that only an `after` brings in runs, even if the op with the `after` disappears in a pass.
TEST(Program, AssignmentsThatMustComeBeforeHappen) {
  for (OpCode code : {OpCode::identity, OpCode::exp, OpCode::stop_gradient}) {
    SCOPED_TRACE(info(code).name);
    Graph graph;
    const Value v = variable(graph, f32({2}), 1), x = placeholder(graph, f32({2}));
    graph.after = {assign(graph, v, x)};
    const Value y = graph.value(code, {x});
    graph.after.clear();
    Runner runner(graph, {{x, x.type()}}, {y}, {});
    runner.run({{x, Array({2}, {5, 6})}});
    EXPECT_EQ(runner.variable(0).values, (std::vector<double>{5, 6}));
  }
}

TEST(Program, AssignmentsThatNobodyAsksForDoNotHappen) {
  Graph graph;
  const Value v = variable(graph, f32({2}), 1), x = placeholder(graph, f32({2}));
  assign(graph, v, x);
  Runner runner(graph, {{x, x.type()}}, {graph.value(OpCode::exp, {v})}, {});
  runner.run({{x, Array({2}, {5, 6})}});
  EXPECT_EQ(only(runner.variable(0)), 1);
}

TEST(Program, OnlyTheTakenBranchAssigns) {
  Graph graph;
  const Value v = variable(graph, f32({}), 1), w = variable(graph, f32({}), 2), flag = placeholder(graph, bools({}));
  Op* op = if_else(
      graph, flag,
      [&] {
        assign(graph, v, graph.value(OpCode::add, {v, constant(graph, f32({}), 10)}));
        return std::vector{read(graph, v)};
      },
      [&] {
        assign(graph, w, v);
        return std::vector{w};
      });
  Runner runner(graph, {{flag, flag.type()}}, {{op, 0}}, {op});
  EXPECT_EQ(only(runner.run({{flag, Array({}, {1})}})[0]), 11);
  EXPECT_EQ(only(runner.variable(0)), 11);
  EXPECT_EQ(only(runner.variable(1)), 2);
  EXPECT_EQ(only(runner.run({{flag, Array({}, {0})}})[0]), 2);
  EXPECT_EQ(only(runner.variable(0)), 11);
  EXPECT_EQ(only(runner.variable(1)), 11);
}

TEST(Program, VariablesSwapConditionally) {
  Graph graph;
  const Value a = variable(graph, f32({5}), 1), b = variable(graph, f32({5}), 2), flag = placeholder(graph, bools({}));
  Op* op = if_else(
      graph, flag,
      [&] {
        assign(graph, a, b);
        assign(graph, b, a);
        return std::vector<Value>();
      },
      [] { return std::vector<Value>(); });
  Runner runner(graph, {{flag, flag.type()}}, {}, {op});
  runner.run({{flag, Array({}, {0})}});
  EXPECT_EQ(only(runner.variable(0)), 1);
  runner.run({{flag, Array({}, {1})}});
  EXPECT_EQ(only(runner.variable(0)), 2);
  EXPECT_EQ(only(runner.variable(1)), 1);
}

TEST(Program, APredicateIsTrueUnlessItIsZero) {
  Graph graph;
  const Value p = placeholder(graph, f32({1, 1}));
  Op* op = if_else(
      graph, p, [&] { return std::vector{constant(graph, f32({}), 1)}; },
      [&] { return std::vector{constant(graph, f32({}), 0)}; });
  Runner runner(graph, {{p, p.type()}}, {{op, 0}}, {});
  for (double value : {1.0, -0.5, 1e-30, 0.0}) {
    EXPECT_EQ(only(runner.run({{p, Array({1, 1}, {value})}})[0]), value != 0) << value;
  }
  EXPECT_EQ(only(runner.run({{p, Array({1, 1}, {-0.0})}})[0]), 0) << "a negative zero is zero";
}

// ---- loops ----

Value whole_number(Graph& graph, double value) { return constant(graph, i32({}), value); }

TEST(Program, LoopsSwapWhatTheyCarry) {
  Graph graph;
  const Value n = placeholder(graph, f32({})), a = placeholder(graph, f32({2})), b = placeholder(graph, f32({2}));
  // Fibonacci's numbers: a, b become b, a + b.
  Op* loop = while_loop(
      graph, {n, a, b}, [](const std::vector<Value>& v) { return std::vector{v[0], v[0], v[1], v[2]}; },
      [&](const std::vector<Value>& v) {
        return std::vector{graph.value(OpCode::subtract, {v[0], constant(graph, f32({}), 1)}), v[2],
                           graph.value(OpCode::add, {v[1], v[2]})};
      });
  Runner runner(graph, {{n, n.type()}, {a, a.type()}, {b, b.type()}}, {{loop, 1}, {loop, 2}}, {});
  const auto run = [&](double count) {
    const std::vector<Array> out =
        runner.run({{n, Array({}, {count})}, {a, Array({2}, {0, 1})}, {b, Array({2}, {1, 2})}});
    return std::vector{out[0].values, out[1].values};
  };
  using Pairs = std::vector<std::vector<double>>;
  EXPECT_EQ(run(0), (Pairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(run(-0.0), (Pairs{{0, 1}, {1, 2}})) << "a negative zero is zero";
  EXPECT_EQ(run(1), (Pairs{{1, 2}, {1, 3}}));
  EXPECT_EQ(run(10), (Pairs{{55, 144}, {89, 233}}));
}

// The first region runs once more than the second.
TEST(Program, LoopsAssignInEveryIteration) {
  Graph graph;
  const Value n = placeholder(graph, f32({})), before = variable(graph, f32({})), after = variable(graph, f32({}));
  const Value one = constant(graph, f32({}), 1);
  Op* loop = while_loop(
      graph, {n},
      [&](const std::vector<Value>& v) {
        assign(graph, before, graph.value(OpCode::add, {read(graph, before), one}));
        return std::vector{v[0], v[0]};
      },
      [&](const std::vector<Value>& v) {
        assign(graph, after, graph.value(OpCode::add, {read(graph, after), read(graph, before)}));
        return std::vector{graph.value(OpCode::subtract, {v[0], one})};
      });
  Runner runner(graph, {{n, n.type()}}, {read(graph, after)}, {loop});
  EXPECT_EQ(only(runner.run({{n, Array({}, {3})}})[0]), 1 + 2 + 3);
  EXPECT_EQ(only(runner.variable(0)), 4);
  EXPECT_EQ(only(runner.run({{n, Array({}, {0})}})[0]), 6);
  EXPECT_EQ(only(runner.variable(0)), 5);
}

TEST(Program, LoopsCount) {
  for (const auto& [lower, upper, step, sum] :
       std::vector<std::array<double, 4>>{{0, 5, 1, 10},
                                          {-3, 4, 3, 0},
                                          {2, 9, 3, 15},
                                          {5, 5, 1, 0},
                                          {7, 5, 1, 0},
                                          {2147483640, 2147483647, 4, 4294967284},
                                          {-2000000000, 2000000000, 1500000000, -1500000000},
                                          {0, 5, -1, 0},
                                          {0, 5, 0, 0}}) {
    SCOPED_TRACE(step);
    Graph graph;
    // The step is not a constant, so that a step in the wrong direction is not refused.
    const Value given = placeholder(graph, f32({})), zero = constant(graph, {DType::float32, Shape()}, 0);
    const Value by = graph.value(OpCode::cast, {given}, {{Attr::kDtype, DType::int32}});
    const Value from = whole_number(graph, lower), to = whole_number(graph, upper);
    Op* loop = for_loop(graph, {from, to, by}, {zero}, [&](const std::vector<Value>& v) {
      const Value index = graph.value(OpCode::cast, {v[0]}, {{Attr::kDtype, DType::float32}});
      return std::vector{graph.value(OpCode::add, {v[1], index})};
    });
    Runner runner(graph, {{given, given.type()}}, {{loop, 0}}, {});
    EXPECT_NEAR(only(runner.run({{given, Array({}, {step})}})[0]), sum, 1e-6 * std::fabs(sum));
  }
}

// A device need not ask for the predicate of a loop whose length is known before a run.
TEST(Program, PlansKnowTheLengthOfLoops) {
  for (const auto& [lower, upper, step, count] : std::vector<std::array<double, 4>>{
           {0, 5, 1, 5}, {-3, 4, 3, 3}, {5, 5, 1, 0}, {7, 5, 1, 0}, {2147483640, 2147483647, 4, 2}}) {
    for (const bool is_known : {true, false}) {
      Graph graph;
      const Value fed = placeholder(graph, i32({})), to = is_known ? whole_number(graph, upper) : fed;
      Op* loop =
          for_loop(graph, {whole_number(graph, lower), to, whole_number(graph, step)}, {fed},
                   [&](const std::vector<Value>& v) { return std::vector{graph.value(OpCode::add, {v[1], v[0]})}; });
      const runtime::Program program = compile({{fed, fed.type()}}, {{loop, 0}}, {});
      std::vector<std::optional<size_t>> counts;
      for (const device::Step& planned : program.plan().steps) {
        if (planned.kind == device::Step::Kind::kLoop) counts.push_back(planned.trip_count);
      }
      const auto wanted = is_known ? std::optional(static_cast<size_t>(count)) : std::nullopt;
      EXPECT_EQ(counts, std::vector{wanted}) << lower << " " << upper << " " << step;
    }
  }
}

TEST(Program, RefusesLoopsOverUnknownShapes) {
  Graph graph;
  const Value shape = placeholder(graph, i32({1})), n = whole_number(graph, 2);
  const Value open = graph.value(OpCode::shaped, {shape}, {{Attr::kDtype, DType::float32}});
  Op* loop = for_loop(graph, {n, n, n}, {open}, [](const std::vector<Value>& v) { return std::vector{v[1]}; });
  EXPECT_NE(error_of([&] { Runner(graph, {{shape, shape.type()}}, {{loop, 0}}, {}); }), "no error");
}

// ---- denormals ----

// Results computed while compiling equal those computed while running.
TEST(Program, TakesDenormalsForZero) {
  const volatile float least = std::numeric_limits<float>::min(), half = 0.5f;
  Graph graph;
  const Value x = placeholder(graph, f32({2})), small = constant(graph, f32({2}), 2e-38),
              tenth = constant(graph, f32({}), 0.1);
  const Value fed = graph.value(OpCode::multiply, {x, tenth}), folded = graph.value(OpCode::multiply, {small, tenth});
  Runner runner(graph, {{x, x.type()}}, {fed, folded}, {});
  EXPECT_NE(least * half, 0) << "compiling leaves the caller's mode alone";
  for (const Array& out : runner.run({{x, Array({2}, {2e-38, -2e-38})}})) {
    EXPECT_EQ(out.values, (std::vector<double>{0, 0}));
  }
  EXPECT_NE(least * half, 0) << "and so does a run";
}

// ---- results ----

TEST(Program, ResultsMayBeAnything) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 2})), c = constant(graph, f32({2}), 3), v = variable(graph, f32({3}), 4);
  const Value e = graph.value(OpCode::square, {x}),
              flat = graph.value(OpCode::reshape, {x}, {{Attr::kShape, Shape({4})}});
  Runner runner(graph, {{x, x.type()}}, {x, c, v, e, e, flat, x}, {});
  const std::vector<Array> out = runner.run({{x, Array({2, 2}, {1, 2, 3, 4})}});
  EXPECT_EQ(out[0].values, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(out[1].values, (std::vector<double>{3, 3}));
  EXPECT_EQ(out[2].values, (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(out[3].values, (std::vector<double>{1, 4, 9, 16}));
  EXPECT_EQ(out[4].values, out[3].values);
  EXPECT_EQ(out[5].values, out[0].values);
  EXPECT_EQ(out[6].values, out[0].values);
  EXPECT_EQ(runner.program().result_types()[5], f32({4}));
}

TEST(Program, NothingIsAProgramToo) {
  Graph graph;
  const Value x = placeholder(graph, f32({2}));
  Runner runner(graph, {{x, x.type()}}, {}, {});
  EXPECT_TRUE(runner.run({{x, Array({2}, {1, 2})}}).empty());
  EXPECT_EQ(runner.program().plan().arena_bytes, 0u);
  EXPECT_TRUE(runner.program().variables().empty());
}

TEST(Program, SaysWhatItCannotCompile) {
  Graph graph;
  const Value x = placeholder(graph, f32({U})), h = placeholder(graph, {DType::complex64, Shape({2})}),
              y = placeholder(graph, f32({2}));
  graph.location = "model.py:8";
  const Value e = graph.value(OpCode::exp, {x}), same = graph.value(OpCode::equal, {h, h});
  auto mistake = [&](const std::vector<Feed>& feeds, const Value& result) {
    return error_of([&] { compile(feeds, {result}, {}); });
  };
  EXPECT_EQ(mistake({}, e), "[placeholder] The placeholder of shape (?,) is needed but was not fed.");
  EXPECT_EQ(mistake({{x, f32({U})}}, e), "[placeholder] The result float32(?,) is not of a known shape.");
  EXPECT_EQ(mistake({{h, h.type()}}, same), "[equal] There is no kernel for complex64(2,); built at model.py:8.");
  EXPECT_EQ(mistake({{y, f32({3})}}, y), "[placeholder] The placeholder has shape (2,) but was fed shape (3,).");
}

}  // namespace
}  // namespace alloy::runtime
