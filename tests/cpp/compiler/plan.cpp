// Tests plans: a plan run on symbols shows that every step finds its operands where the plan says, in every order that
// its edges allow; that kernels work in place only where they can; where the few values with promised places go; and
// the regions and edges of small plans.
#include "compiler/plan.h"

#include <algorithm>
#include <map>

#include "compiler/passes.h"
#include "cpu/device.h"
#include "device/executor.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/rewrite.h"
#include "random_graph.h"

namespace alloy::compiler {
namespace {

using namespace test;
using device::PackedWeights;
using device::Place;
using device::Plan;
using device::Step;

// A symbol stands for the contents of a tensor: equal symbols, equal contents.
using Symbol = uint64_t;

Symbol mix(Symbol a, Symbol b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c15u + (a << 6) + (a >> 2));
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 29);
}

constexpr Symbol kGarbage = 0xdead;
constexpr Symbol kZeroBytes = 7;  // every tensor without elements has the same contents

Symbol symbol_of(const std::vector<std::byte>& bytes) {
  if (bytes.empty()) return kZeroBytes;
  Symbol s = 11;
  for (std::byte b : bytes) s = mix(s, static_cast<Symbol>(b));
  return s;
}

Symbol symbol_of(const Literal& literal) {
  std::vector<std::byte> bytes(literal.type().byte_count());
  literal.fill(bytes.data());
  return symbol_of(bytes);
}

bool is_true(Symbol s) { return s % 2 == 1; }

Symbol feed_symbol(const Type& type, size_t i) { return type.byte_count() == 0 ? kZeroBytes : mix(1, i); }
Symbol variable_symbol(int64_t slot, const Type& type) {
  return type.byte_count() == 0 ? kZeroBytes : mix(2, static_cast<Symbol>(slot));
}

// The symbol of every value as the graph defines it, whatever a plan does.
class Meaning : private GraphRun<Symbol> {
 public:
  Meaning(const Graph& graph, const std::vector<Value>& feeds) {
    for (size_t i = 0; i < feeds.size(); ++i) values_[feeds[i]] = feed_symbol(feeds[i].type(), i);
    run(graph.body(), graph.body().results, {});
  }
  // The results alone, of an op with these operands.
  Meaning(const Op& op, const std::vector<Symbol>& operands) {
    for (size_t i = 0; i < operands.size(); ++i) values_[op.operands[i]] = operands[i];
    run_alone(op);
  }
  Symbol operator()(Value v) const { return values_.at(v); }

 private:
  bool is_true(const Symbol& s) const override { return compiler::is_true(s); }

  void run_op(const Op& op) override {
    switch (op.code) {
      case OpCode::placeholder: return;
      case OpCode::empty:
        return give(op, op.results[0].is_static() && op.results[0].byte_count() == 0 ? kZeroBytes : kGarbage);
      case OpCode::constant: return give(op, symbol_of(*op.attributes.get<LiteralRef>(Attr::kValue)));
      case OpCode::variable: return give(op, variable_symbol(op.attributes.integer(Attr::kSlot), op.results[0]));
      case OpCode::reshape: return give(op, x(op));
      default:
        for (uint32_t r = 0; r < op.results.size(); ++r) {
          Symbol s = mix(op.id + 1000, r + 100 * static_cast<Symbol>(op.code));
          for (const Value& operand : op.operands) s = mix(s, values_.at(operand));
          give(op, op.results[r].byte_count() == 0 ? kZeroBytes : s, r);
        }
    }
  }
};

// Memory that holds symbols: the arena by ranges of bytes, other places by name.
class Machine {
 public:
  Machine(const Plan& plan, const Graph& graph, const std::vector<Value>& feeds, const std::vector<int64_t>& slots)
      : plan_(plan), graph_(graph) {
    for (size_t i = 0; i < feeds.size(); ++i) named_[{Place::Kind::kFeed, i}] = feed_symbol(feeds[i].type(), i);
    for (const auto& op : graph.body().ops) {
      if (op->code != OpCode::variable) continue;
      const int64_t slot = op->attributes.integer(Attr::kSlot);
      named_[{Place::Kind::kVariable, position(slot)}] = variable_symbol(slot, op->results[0]);
    }
    for (int64_t slot : slots) EXPECT_TRUE(std::binary_search(plan.variables.begin(), plan.variables.end(), slot));
    for (size_t i = 0; i < plan.constants.size(); ++i) {
      named_[{Place::Kind::kConstant, i}] = symbol_of(plan.constants[i].literal());
    }
    EXPECT_TRUE(std::is_sorted(plan.variables.begin(), plan.variables.end()));
    for (const PackedWeights& weights : plan.packed_weights) {
      EXPECT_GE(weights.offset, plan.packed_weights_offset);
      EXPECT_LT(weights.offset, plan.arena_bytes);
      device::for_each_action(plan.steps, [&](const Step& step) {
        if (step.kernel.get() != weights.kernel) return;
        arena_[weights.offset] = {step.op->operands[weights.operand].type().byte_count(),
                                  named_.at({weights.source.kind, weights.source.index})};
      });
    }
  }

  size_t position(int64_t slot) const {
    return static_cast<size_t>(std::find(plan_.variables.begin(), plan_.variables.end(), slot) -
                               plan_.variables.begin());
  }

  // Runs steps in their order.
  void run(const std::vector<Step>& steps) {
    for (size_t i = 0; i < steps.size() && !::testing::Test::HasFatalFailure(); ++i) run(steps[i], i);
  }

  // Runs steps in an order that only their edges restrict: next is always the last step of those that may begin.
  void run_by_edges(const std::vector<Step>& steps) {
    by_edges_ = true;
    std::vector<bool> has_run(steps.size());
    for (size_t count = 0; count < steps.size() && !::testing::Test::HasFatalFailure(); ++count) {
      size_t next = steps.size();
      const auto may_begin = [&](const Step& step) {
        return std::all_of(step.follows.begin(), step.follows.end(), [&](size_t i) { return has_run[i]; });
      };
      do {
        ASSERT_GT(next, 0u) << "no step may begin";
        --next;
      } while (has_run[next] || !may_begin(steps[next]));
      has_run[next] = true;
      run(steps[next], next);
    }
  }

  Symbol read(const Place& place, size_t bytes) const {
    if (place.kind == Place::Kind::kNowhere) return bytes == 0 ? kZeroBytes : kGarbage;
    if (bytes == 0) return kZeroBytes;
    if (place.kind != Place::Kind::kArena) {
      const auto it = named_.find({place.kind, place.index});
      return it == named_.end() ? kGarbage : it->second;
    }
    const auto it = arena_.find(place.index);
    return it == arena_.end() || it->second.bytes != bytes ? kGarbage : it->second.symbol;
  }

 private:
  struct Range {
    size_t bytes;
    Symbol symbol;
  };

  static bool overlap(const Place& a, size_t a_bytes, const Place& b, size_t b_bytes) {
    if (a.kind != b.kind || a_bytes == 0 || b_bytes == 0 || a.kind == Place::Kind::kNowhere) return false;
    if (a.kind != Place::Kind::kArena) return a.index == b.index;
    return a.index < b.index + b_bytes && b.index < a.index + a_bytes;
  }

  void write(const Place& place, size_t bytes, Symbol symbol) {
    ASSERT_NE(place.kind, Place::Kind::kFeed) << "feeds are the caller's";
    ASSERT_NE(place.kind, Place::Kind::kConstant) << "constants are for the next run too";
    if (bytes == 0 || place.kind == Place::Kind::kNowhere) return;
    if (place.kind != Place::Kind::kArena) {
      named_[{place.kind, place.index}] = symbol;
      return;
    }
    ASSERT_EQ(place.index % 64, 0u);
    ASSERT_LE(place.index + bytes, plan_.scratch_offset);
    erase(place.index, bytes);
    arena_[place.index] = {bytes, symbol};
  }

  void run(const Step& step, size_t position) {
    SCOPED_TRACE("step " + std::to_string(position));
    ASSERT_LT(++count_, 100000u);
    const auto run_region = [&](size_t k) { by_edges_ ? run_by_edges(step.regions[k]) : run(step.regions[k]); };
    const auto holds = [&] { return is_true(read(step.operands[0], step.bytes)); };
    switch (step.kind) {
      case Step::Kind::kCall: call(step); break;
      case Step::Kind::kCopy:
        ASSERT_EQ(step.operands.size(), 1u);
        ASSERT_EQ(step.results.size(), 1u);
        ASSERT_FALSE(overlap(step.operands[0], step.bytes, step.results[0], step.bytes)) << "a copy onto itself";
        write(step.results[0], step.bytes, read(step.operands[0], step.bytes));
        break;
      case Step::Kind::kHostCall: FAIL() << "no plan here has an op of the host";
      case Step::Kind::kIf: run_region(holds() ? 0 : 1); break;
      case Step::Kind::kLoop:
        for (run_region(0); holds() && !::testing::Test::HasFatalFailure(); run_region(0)) run_region(1);
    }
  }

  // Nothing is left of values in these bytes of the arena.
  void erase(size_t offset, size_t bytes) {
    for (auto it = arena_.begin(); it != arena_.end();) {
      const bool dies = it->first < offset + bytes && offset < it->first + it->second.bytes;
      it = dies ? arena_.erase(it) : std::next(it);
    }
  }

  void call(const Step& step) {
    ASSERT_TRUE(step.kernel);
    const Op& op = *step.op;
    ASSERT_EQ(step.operands.size(), op.operands.size());
    ASSERT_EQ(step.results.size(), op.results.size());
    const size_t scratch_bytes = step.kernel->scratch_bytes();
    ASSERT_LE(step.scratch + scratch_bytes, plan_.packed_weights_offset);
    erase(step.scratch, scratch_bytes);
    std::vector<Symbol> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      operands.push_back(read(step.operands[i], op.operands[i].type().byte_count()));
    }
    for (size_t r = 0; r < op.results.size(); ++r) {
      const size_t bytes = op.results[r].byte_count();
      for (size_t i = 0; i < op.operands.size(); ++i) {
        const size_t operand_bytes = op.operands[i].type().byte_count();
        if (!overlap(step.operands[i], operand_bytes, step.results[r], bytes)) continue;
        EXPECT_EQ(step.operands[i], step.results[r]) << op.info().name << ": a result in a part of an operand";
        EXPECT_EQ(operand_bytes, bytes) << op.info().name;
        EXPECT_TRUE(step.kernel->in_place(i, r)) << op.info().name << ": result " << r << " over operand " << i;
      }
      for (size_t other = 0; other < r; ++other) {
        EXPECT_FALSE(overlap(step.results[r], bytes, step.results[other], op.results[other].byte_count()))
            << op.info().name << ": two results in one place";
      }
    }
    const Meaning meaning(op, operands);
    for (uint32_t r = 0; r < op.results.size(); ++r) {
      const size_t bytes = op.results[r].byte_count();
      ASSERT_FALSE(overlap(step.results[r], bytes, {Place::Kind::kArena, step.scratch}, scratch_bytes));
      write(step.results[r], bytes, meaning(op.result(r)));
    }
  }

  const Plan& plan_;
  const Graph& graph_;
  std::map<std::pair<Place::Kind, size_t>, Symbol> named_;
  std::map<size_t, Range> arena_;
  bool by_edges_ = false;
  size_t count_ = 0;  // of the steps that have run
};

// A kernel of the CPU, but with so much scratch.
class OtherScratch final : public device::Kernel {
 public:
  OtherScratch(std::unique_ptr<device::Kernel> kernel, size_t scratch)
      : kernel_(std::move(kernel)), scratch_(scratch) {}
  size_t scratch_bytes() const override { return scratch_; }
  bool in_place(size_t operand, size_t result) const override { return kernel_->in_place(operand, result); }
  std::optional<size_t> prepacked_operand() const override { return kernel_->prepacked_operand(); }
  size_t take_prepacked() override { return kernel_->take_prepacked(); }

 private:
  const std::unique_ptr<device::Kernel> kernel_;
  const size_t scratch_;
};

// The CPU with two lanes, for plans that nobody runs.
class TwoLanes final : public device::Device {
 public:
  explicit TwoLanes(size_t scratch) : scratch_(scratch) {}
  size_t lanes() const noexcept override { return 2; }
  size_t alignment() const noexcept override { return cpu::cpu_device().alignment(); }
  std::unique_ptr<device::Kernel> make_kernel(const Op& op) const override {
    return std::make_unique<OtherScratch>(cpu::cpu_device().make_kernel(op), scratch_);
  }

  std::string_view kind() const noexcept override { return "two lanes"; }
  std::string_view name() const noexcept override { return kind(); }
  std::shared_ptr<device::Storage> allocate(size_t, device::StorageMode) override { return nullptr; }
  std::shared_ptr<device::Storage> adopt(void*, size_t, std::function<void()>) override { return nullptr; }
  std::unique_ptr<device::Stream> make_stream() override { return nullptr; }
  uint64_t memory_size() const noexcept override { return 0; }
  bool has_unified_memory() const noexcept override { return false; }
  host::Status status() const override { return {}; }
  const device::FusionPolicy& fusion_policy() const noexcept override { return cpu::cpu_device().fusion_policy(); }
  std::unique_ptr<Graph> lower(const Graph&) const override { return nullptr; }
  bool fold(const Op&, const std::byte* const*, std::byte*) const override { return false; }
  std::unique_ptr<device::Executor> make_executor(Plan, std::shared_ptr<device::Arena>) override { return nullptr; }

 private:
  const size_t scratch_;
};

const TwoLanes kTwoLanes(0), kTwoLanesWithScratch(64);

// A graph on its way to a plan.
struct Planned {
  std::unique_ptr<Graph> graph;
  std::vector<Value> feeds;
  std::vector<int64_t> slots;
  Plan plan;

  Planned(const std::vector<Feed>& given, const std::vector<Value>& results, const std::vector<Op*>& effects,
          bool optimize, const device::Device& device = cpu::cpu_device()) {
    Specialized special = specialize(given, results, effects);
    auto& outputs = special.graph->body().results;
    outputs.insert(outputs.begin(), special.feeds.begin(), special.feeds.end());
    const Pure pure = remove_effects(*special.graph);
    graph = resolve_shapes(*pure.graph);
    if (optimize) graph = fuse(*simplify(*graph, cpu::cpu_device()), cpu::cpu_device().fusion_policy());
    slots = pure.slots;
    auto& planned = graph->body().results;
    feeds.assign(planned.begin(), planned.begin() + static_cast<long>(given.size()));
    planned.erase(planned.begin(), planned.begin() + static_cast<long>(given.size()));
    plan = make_plan(device, *graph, feeds, slots, nullptr);
  }

  // Runs the plan on symbols and compares the results with the graph's definition.
  void check(bool by_edges = false) const {
    const Meaning meaning(*graph, feeds);
    Machine machine(plan, *graph, feeds, slots);
    by_edges ? machine.run_by_edges(plan.steps) : machine.run(plan.steps);
    if (::testing::Test::HasFatalFailure()) return;
    const auto& results = graph->body().results;
    const size_t count = results.size() - slots.size();
    for (size_t i = 0; i < count; ++i) {
      if (meaning(results[i]) == kGarbage) continue;
      EXPECT_EQ(machine.read({Place::Kind::kResult, i}, results[i].type().byte_count()), meaning(results[i]))
          << "result " << i;
    }
    for (size_t s = 0; s < slots.size(); ++s) {
      const Value v = results[count + s];
      EXPECT_EQ(machine.read({Place::Kind::kVariable, machine.position(slots[s])}, v.type().byte_count()), meaning(v))
          << "slot " << slots[s];
    }
    for (const auto& op : graph->body().ops) {
      if (op->code != OpCode::variable) continue;
      const int64_t slot = op->attributes.integer(Attr::kSlot);
      if (std::find(slots.begin(), slots.end(), slot) != slots.end()) continue;
      EXPECT_EQ(machine.read({Place::Kind::kVariable, machine.position(slot)}, op->results[0].byte_count()),
                variable_symbol(slot, op->results[0]))
          << "a variable that nobody assigns";
    }
  }

  size_t copies() const {
    size_t count = 0;
    device::for_each_action(plan.steps, [&](const Step& step) { count += step.kind == Step::Kind::kCopy ? 1 : 0; });
    return count;
  }
};

TEST(Plan, EveryStepFindsWhatItNeeds) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    for (bool optimize : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (optimize ? ", optimised" : ""));
      RandomGraph random(seed);
      const Planned planned(random.feeds, random.results, random.effects, optimize);
      SCOPED_TRACE(print(*planned.graph));
      planned.check();
      const Planned in_lanes(random.feeds, random.results, random.effects, optimize, kTwoLanesWithScratch);
      in_lanes.check();
      in_lanes.check(true);
      if (HasFailure()) return;
    }
  }
}

// ---- in place ----

TEST(Plan, AChainOfOpsSharesMemory) {
  Graph graph;
  const Value x = placeholder(graph, f32({1000}));
  Value v = x;
  for (int i = 0; i < 10; ++i) v = graph.value(OpCode::tanh, {v});
  const Value sum = graph.value(OpCode::sum, {v}, {{Attr::kAxes, Dims{0}}});
  const Planned planned({{x, x.type()}}, {sum}, {}, false);
  planned.check();
  EXPECT_LE(planned.plan.scratch_offset, 4096u) << "one buffer is enough";
}

TEST(Plan, FeedsAndConstantsAreNeverOverwritten) {
  Graph graph;
  const Value x = placeholder(graph, f32({4})),
              c = graph.value(OpCode::constant, {}, {{Attr::kValue, Literal::splat(f32({4}), 1)}});
  const Planned planned({{x, x.type()}},
                        {graph.value(OpCode::exp, {graph.value(OpCode::add, {x, c})}), graph.value(OpCode::exp, {c})},
                        {}, false);
  planned.check();
}

TEST(Plan, AMatrixProductIsNotInPlace) {
  Graph graph;
  const Value x = placeholder(graph, f32({4, 4}));
  const Value h = graph.value(OpCode::tanh, {x});
  const Value y = graph.value(OpCode::sum, {graph.value(OpCode::matmul, {h, h})}, {{Attr::kAxes, Dims{0}}});
  const Planned planned({{x, x.type()}}, {y}, {}, false);
  planned.check();
  for (const Step& step : planned.plan.steps) {
    if (step.op->code != OpCode::matmul) continue;
    EXPECT_NE(step.results[0], step.operands[0]);
  }
}

TEST(Plan, AnOperandWithAnotherUseIsKept) {
  Graph graph;
  const Value x = placeholder(graph, f32({100}));
  const Value h = graph.value(OpCode::tanh, {x}), e = graph.value(OpCode::exp, {h});
  const Value y = graph.value(OpCode::concat, {h, e}, {{Attr::kAxis, int64_t{0}}});
  const Planned planned({{x, x.type()}}, {y}, {}, false);
  planned.check();
}

TEST(Plan, ABroadcastOperandIsNotOverwritten) {
  Graph graph;
  const Value x = placeholder(graph, f32({4, 1})), y = placeholder(graph, f32({1, 4}));
  // Only in the last sum do both operands have as many bytes as the result.
  const Value a = graph.value(OpCode::tanh, {x}), b = graph.value(OpCode::tanh, {y});
  const Value z = graph.value(OpCode::add, {a, b});
  const Planned planned({{x, x.type()}, {y, y.type()}}, {graph.value(OpCode::sum, {z}, {{Attr::kAxes, Dims{0}}})}, {},
                        false);
  planned.check();
}

// ---- variables ----

TEST(Plan, AnUpdateHappensInTheVariable) {
  Graph graph;
  const Value v = variable(graph, f32({8}));
  const Value next = graph.value(OpCode::add, {v, constant(graph, f32({}), 1)});
  const Planned planned({}, {}, {assign(graph, v, next)}, false);
  planned.check();
  ASSERT_EQ(planned.plan.steps.size(), 1u);
  EXPECT_EQ(planned.plan.steps[0].operands[0], (Place{Place::Kind::kVariable, 0}));
  EXPECT_EQ(planned.plan.steps[0].results[0], (Place{Place::Kind::kVariable, 0}));
  EXPECT_EQ(planned.plan.arena_bytes, planned.plan.steps[0].kernel->scratch_bytes()) << "no value is there";
}

TEST(Plan, OptimizerStepsHappenInTheirState) {
  Graph graph;
  const Value w = variable(graph, f32({8})), m = variable(graph, f32({8})), s = variable(graph, f32({8})),
              g = placeholder(graph, f32({8}));
  const Value half = constant(graph, f32({}), 0.5);
  Op* op = graph.add(OpCode::adam, {half, half, half, half, w, m, s, g});
  const std::vector<Op*> updates = {assign(graph, w, {op, 0}), assign(graph, m, {op, 1}), assign(graph, s, {op, 2})};
  const Planned planned({{g, g.type()}}, {}, updates, false);
  planned.check();
  ASSERT_EQ(planned.plan.steps.size(), 1u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(planned.plan.steps[0].results[i], (Place{Place::Kind::kVariable, i}));
}

// A training step of two layers: the second layer's weights are still read, for the first layer's gradient,
// when their own update is ready.
TEST(Plan, WeightsAreReadBeforeTheyAreUpdated) {
  Graph graph;
  const Value x = placeholder(graph, f32({5, 4})), w1 = variable(graph, f32({4, 3}), 0.5),
              w2 = variable(graph, f32({3, 2}), 0.25);
  const Value h = graph.value(OpCode::tanh, {graph.value(OpCode::matmul, {x, w1})});
  const Value loss = graph.value(OpCode::sum, {graph.value(OpCode::matmul, {h, w2})}, {{Attr::kAxes, Dims{0, 1}}});
  const std::vector<Value> slopes = gradients(graph, loss, {w1, w2});
  const Value rate = constant(graph, f32({1}), 0.125);
  const std::vector<Op*> updates = {assign(graph, w2, graph.value(OpCode::sgd, {rate, w2, slopes[1]})),
                                    assign(graph, w1, graph.value(OpCode::sgd, {rate, w1, slopes[0]}))};
  for (bool optimize : {false, true}) {
    const Planned planned({{x, x.type()}}, {loss, w2}, updates, optimize);
    planned.check();
  }
  const Planned planned({{x, x.type()}}, {loss}, {updates[1], updates[0]}, false);
  planned.check();
}

TEST(Plan, SwapsGoThroughTheArena) {
  Graph graph;
  const Value a = variable(graph, f32({8})), b = variable(graph, f32({8})), c = variable(graph, f32({8}));
  const std::vector<Op*> rotation = {assign(graph, a, b), assign(graph, b, c), assign(graph, c, a)};
  for (bool optimize : {false, true}) {
    Planned({}, {}, {rotation[0], assign(graph, b, a)}, optimize).check();
    Planned({}, {}, rotation, optimize).check();
    Planned({}, {a, c}, rotation, optimize).check();
    Planned({}, {}, {rotation[0]}, optimize).check();
  }
}

TEST(Plan, AnAssignedValueMayBeFetchedToo) {
  Graph graph;
  const Value v = variable(graph, f32({8})), w = variable(graph, f32({8})), x = placeholder(graph, f32({8}));
  const Value next = graph.value(OpCode::add, {v, x});
  Op* write = assign(graph, v, next);
  const std::vector<Feed> feeds = {{x, x.type()}};
  for (bool optimize : {false, true}) {
    Planned(feeds, {next}, {write}, optimize).check();
    Planned(feeds, {next, next, v}, {write}, optimize).check();
    Planned(feeds, {v}, {write}, optimize).check();
    Planned(feeds, {x, next}, {write, assign(graph, w, next)}, optimize).check();
    Planned(feeds, {w}, {assign(graph, w, x), assign(graph, v, w)}, optimize).check();
    // The new value with another shape.
    const Value flat = graph.value(OpCode::reshape, {next}, {{Attr::kShape, Shape({2, 4})}});
    Planned(feeds, {flat, next}, {write}, optimize).check();
    const Value old = graph.value(OpCode::reshape, {v}, {{Attr::kShape, Shape({2, 4})}});
    Planned(feeds, {graph.value(OpCode::exp, {old}), old}, {write}, optimize).check();
  }
}

// ---- loops ----

// A loop that runs while its first value is not zero.
Op* repeat(Graph& graph, const std::vector<Value>& initial, const Pass& after) {
  return while_loop(
      graph, initial,
      [&](std::vector<Value> arguments) {
        arguments.insert(arguments.begin(), arguments[0]);
        return arguments;
      },
      after);
}

TEST(Plan, CarriedValuesTakeEachOthersPlaces) {
  Graph graph;
  const Value x = placeholder(graph, f32({})), a = placeholder(graph, f32({8})), b = placeholder(graph, f32({8})),
              c = placeholder(graph, f32({8}));
  const std::vector<Feed> feeds = {{x, x.type()}, {a, a.type()}, {b, b.type()}, {c, c.type()}};
  const std::vector<std::vector<size_t>> orders = {{1, 2, 3}, {2, 1, 3}, {2, 3, 1}, {1, 1, 2}, {2, 2, 2}, {3, 1, 1}};
  for (const std::vector<size_t>& order : orders) {
    for (bool optimize : {false, true}) {
      Op* loop = repeat(graph, {x, a, b, c}, [&](const std::vector<Value>& v) {
        return std::vector{graph.value(OpCode::tanh, {v[0]}), v[order[0]], v[order[1]], v[order[2]]};
      });
      Planned(feeds, {{loop, 1}, {loop, 2}, {loop, 3}}, {}, optimize).check();
    }
  }
}

TEST(Plan, WhatALoopUsesLivesUntilItsEnd) {
  Graph graph;
  const Value x = placeholder(graph, f32({}));
  const Value used = graph.value(OpCode::tanh, {graph.value(OpCode::broadcast_to, {x}, {{Attr::kShape, Shape({8})}})});
  Op* loop = repeat(graph, {x, x, x}, [&](const std::vector<Value>& v) {
    const Value sum = graph.value(OpCode::sum, {used}, {{Attr::kAxes, Dims{0}}});
    Value large = graph.value(OpCode::broadcast_to, {v[1]}, {{Attr::kShape, Shape({8})}});
    for (int i = 0; i < 3; ++i) large = graph.value(OpCode::softmax, {large}, {{Attr::kAxis, int64_t{0}}});
    const Value next = graph.value(OpCode::sum, {large}, {{Attr::kAxes, Dims{0}}});
    return std::vector{graph.value(OpCode::tanh, {v[0]}),
                       graph.value(OpCode::reshape, {sum}, {{Attr::kShape, Shape()}}),
                       graph.value(OpCode::reshape, {next}, {{Attr::kShape, Shape()}})};
  });
  for (bool optimize : {false, true}) Planned({{x, x.type()}}, {{loop, 1}, {loop, 2}}, {}, optimize).check();
}

TEST(Plan, AVariableThatOnlyALoopUpdatesIsUpdatedInItsPlace) {
  Graph graph;
  const Value x = placeholder(graph, f32({})), v = variable(graph, f32({1000}));
  Op* loop = repeat(graph, {x}, [&](const std::vector<Value>& a) {
    assign(graph, v, graph.value(OpCode::add, {read(graph, v), a[0]}));
    return std::vector{graph.value(OpCode::tanh, {a[0]})};
  });
  const Planned planned({{x, x.type()}}, {}, {loop}, false);
  planned.check();
  EXPECT_LE(planned.plan.scratch_offset, 256u) << "no copy of the variable beside the new value";
}

TEST(Plan, ResultsMayBeAnything) {
  Graph graph;
  const Value x = placeholder(graph, f32({8})), c = constant(graph, f32({8}), 2), v = variable(graph, f32({8})),
              e = graph.value(OpCode::exp, {x});
  const Value flat = graph.value(OpCode::reshape, {x}, {{Attr::kShape, Shape({2, 4})}});
  for (bool optimize : {false, true}) {
    const Planned planned({{x, x.type()}}, {x, c, v, e, e, flat, x, graph.value(OpCode::exp, {e})}, {}, optimize);
    planned.check();
    EXPECT_EQ(planned.copies(), 6u) << "only the computed values go straight to their places";
  }
}

TEST(Plan, TensorsWithoutElementsNeedNothing) {
  Graph graph;
  const Value x = placeholder(graph, f32({0, 3}));
  const Value y = graph.value(OpCode::exp, {x});
  const Planned planned({{x, x.type()}}, {y, x, graph.value(OpCode::sum, {y}, {{Attr::kAxes, Dims{0}}})}, {}, false);
  planned.check();
}

// The plan never takes more memory than all buffers side by side, and never less than the values that live at the
// busiest moment.
TEST(Plan, TheArenaIsNoLargerThanItsBuffers) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const Planned planned(random.feeds, random.results, random.effects, false);
    size_t all = 0, largest = 0;
    std::function<void(const Block&)> add_up = [&](const Block& block) {
      for (const auto& op : block.ops) {
        for (const Type& type : op->results) {
          if (type.is_static()) all += (type.byte_count() + 63) / 64 * 64;
        }
        for (const auto& region : op->regions) {
          add_up(*region);
          // An argument, and its copied value while other values change places.
          for (const auto& argument : region->arguments)
            all += 2 * ((argument->results[0].byte_count() + 63) / 64 * 64);
        }
      }
    };
    add_up(planned.graph->body());
    EXPECT_LE(planned.plan.scratch_offset, all);
    EXPECT_LE(planned.plan.scratch_offset, planned.plan.arena_bytes);
    device::for_each_action(planned.plan.steps, [&](const Step& step) {
      if (step.kind == Step::Kind::kCall) largest = std::max(largest, step.kernel->scratch_bytes());
    });
    EXPECT_EQ(planned.plan.packed_weights_offset - planned.plan.scratch_offset, (largest + 63) / 64 * 64);
  }
}

// The bytes of the values that are still read or just written, at the step with the most.
size_t fullest(const Plan& plan) {
  std::map<size_t, std::pair<size_t, size_t>> lives;  // by a number: from which step to which
  std::vector<size_t> bytes;
  std::map<size_t, size_t> holder;  // of an offset
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const Place& place : step.operands) {
      if (place.kind == Place::Kind::kArena) lives[holder.at(place.index)].second = i;
    }
    for (size_t r = 0; r < step.results.size(); ++r) {
      const Place& place = step.results[r];
      if (place.kind != Place::Kind::kArena) continue;
      const auto before = holder.find(place.index);
      // A result written over an operand shares its buffer.
      const bool in_place = before != holder.end() && lives[before->second].second == i &&
                            std::find(step.operands.begin(), step.operands.end(), place) != step.operands.end();
      if (in_place) continue;
      lives[bytes.size()] = {i, i};
      holder[place.index] = bytes.size();
      bytes.push_back(step.op->results[r].byte_count());
    }
  }
  size_t most = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    size_t now = 0;
    for (const auto& [number, span] : lives) now += span.first <= i && i <= span.second ? bytes[number] : 0;
    most = std::max(most, now);
  }
  return most;
}

TEST(Plan, KnowsWhatLivesAtThePeak) {
  size_t compared = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph random(seed);
    const Planned planned(random.feeds, random.results, random.effects, true);
    const Plan& plan = planned.plan;
    size_t stored = 0;
    for (const Value& v : plan.at_peak) stored += v.type().byte_count();
    EXPECT_LE(stored, plan.scratch_offset);
    // The steps do not tell how copies move values, nor fullest() what runs in regions.
    const bool calls_only =
        std::all_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.kind == Step::Kind::kCall; });
    if (!calls_only) continue;
    EXPECT_EQ(stored, fullest(plan)) << print(*planned.graph);
    compared += stored > 0;
  }
  EXPECT_GT(compared, 50u);
}

// ---- regions and edges ----

// The steps in a line, such as "tanh, exp<0, if {copy} {log}<0 1": behind "<" the steps that each follows.
std::string outline(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    if (!text.empty()) text += ", ";
    switch (step.kind) {
      case Step::Kind::kCall: text += step.op->info().name; break;
      case Step::Kind::kCopy: text += "copy"; break;
      case Step::Kind::kHostCall: text += "host call"; break;
      case Step::Kind::kIf: text += "if"; break;
      case Step::Kind::kLoop: text += "loop"; break;
    }
    if (step.kind == Step::Kind::kIf || step.kind == Step::Kind::kLoop) {
      for (const std::vector<Step>& region : step.regions) text += " {" + outline(region) + "}";
    }
    for (const size_t i : step.follows) text += (i == step.follows[0] ? "<" : " ") + std::to_string(i);
  }
  return text;
}

std::string outline(const std::vector<Feed>& feeds, const std::vector<Value>& results, const std::vector<Op*>& effects,
                    const device::Device& device = kTwoLanes) {
  const Planned planned(feeds, results, effects, false, device);
  planned.check();
  if (device.lanes() > 1) planned.check(true);
  return outline(planned.plan.steps);
}

TEST(Plan, RegionsAreInsideTheirStep) {
  Graph graph;
  const Value x = placeholder(graph, f32({})), flag = placeholder(graph, bools({}));
  const Op* branches = if_else(
      graph, flag,
      [&] {
        const Op* loop = while_loop(
            graph, {x},
            [&](const std::vector<Value>& v) { return std::vector{graph.value(OpCode::less, {v[0], x}), v[0]}; },
            [&](const std::vector<Value>& v) {
              return std::vector{graph.value(OpCode::cos, {graph.value(OpCode::tanh, {v[0]})})};
            });
        return std::vector{graph.value(OpCode::exp, {loop->result()})};
      },
      [&] { return std::vector{graph.value(OpCode::log, {x})}; });
  const Value y = graph.value(OpCode::sqrt, {branches->result()});
  const std::vector<Feed> feeds = {{x, x.type()}, {flag, flag.type()}};
  EXPECT_EQ(outline(feeds, {y}, {}, cpu::cpu_device()), "if {copy, loop {less} {tanh, cos}, exp} {log}, sqrt");
  EXPECT_EQ(outline(feeds, {y}, {}), "if {copy, loop {less} {tanh, cos<0}<0, exp<1} {log}, sqrt<0");
}

TEST(Plan, BranchesOfADiamondDoNotFollowEachOther) {
  Graph graph;
  const Value x = placeholder(graph, f32({8}));
  const Value t = graph.value(OpCode::tanh, {x}), e = graph.value(OpCode::exp, {t}), c = graph.value(OpCode::cos, {t});
  const Value sum = graph.value(OpCode::add, {e, c});
  EXPECT_EQ(outline({{x, x.type()}}, {sum}, {}), "tanh, exp<0, cos<0, add<1 2");
  EXPECT_EQ(outline({{x, x.type()}}, {sum}, {}, cpu::cpu_device()), "tanh, exp, cos, add") << "one lane";
}

TEST(Plan, MemoryIsWrittenAgainOnceItsValueWasRead) {
  Graph graph;
  const Value x = placeholder(graph, f32({8}));
  std::vector<Value> sums;
  for (const OpCode code : {OpCode::tanh, OpCode::exp, OpCode::cos}) {
    sums.push_back(graph.value(OpCode::sum, {graph.value(code, {x})}, {{Attr::kAxes, Dims{0}}}));
  }
  // The exponential has memory of its own, because it may run beside the first sum.
  EXPECT_EQ(outline({{x, x.type()}}, sums, {}), "tanh, sum<0, exp, sum<2, cos<1, sum<4");
}

TEST(Plan, AVariableIsWrittenOnceItsOldValueWasRead) {
  Graph graph;
  const Value x = placeholder(graph, f32({8})), flag = placeholder(graph, bools({})), v = variable(graph, f32({8})),
              w = variable(graph, f32({8}));
  const std::vector<Feed> feeds = {{x, x.type()}, {flag, flag.type()}};
  const Value old = graph.value(OpCode::tanh, {v});
  EXPECT_EQ(outline(feeds, {old}, {assign(graph, v, graph.value(OpCode::exp, {x})), assign(graph, w, x)}),
            "tanh, exp<0, copy");
  // A conditional reads what its regions read.
  Op* branches =
      if_else(graph, flag, [&] { return std::vector{graph.value(OpCode::cos, {v})}; }, [&] { return std::vector{x}; });
  EXPECT_EQ(outline(feeds, {branches->result()}, {assign(graph, v, graph.value(OpCode::exp, {x}))}),
            "if {cos} {copy}, exp<0");
}

// The gradient of the weights, which becomes their new value, need not wait for the other product.
TEST(Plan, AProductReadsACopyOfASmallVariableThatIsUpdated) {
  for (const int64_t size : {8, 128, 160}) {
    Graph graph;
    const Value x = placeholder(graph, f32({size, size})), v = variable(graph, f32({size, size}));
    const Value y = graph.value(OpCode::matmul, {x, v}), back = graph.value(OpCode::matmul, {y, v});
    Op* update = assign(graph, v, graph.value(OpCode::matmul, {x, y}));
    EXPECT_EQ(outline({{x, x.type()}}, {back}, {update}),
              size == 160 ? "matmul, matmul<0, matmul<0 1" : "copy, matmul, matmul<0 1, matmul<0 1")
        << size;
  }
}

// The third step uses the first one's scratch again.
TEST(Plan, StepsThatMayRunAtOnceHaveScratchOfTheirOwn) {
  Graph graph;
  const Value x = placeholder(graph, f32({8}));
  std::vector<Value> results;
  for (const OpCode code : {OpCode::tanh, OpCode::exp, OpCode::cos}) results.push_back(graph.value(code, {x}));
  const Planned planned({{x, x.type()}}, results, {}, false, kTwoLanesWithScratch);
  EXPECT_EQ(outline(planned.plan.steps), "tanh, exp, cos<0");
  EXPECT_NE(planned.plan.steps[0].scratch, planned.plan.steps[1].scratch);
  EXPECT_EQ(planned.plan.steps[0].scratch, planned.plan.steps[2].scratch);
  EXPECT_EQ(planned.plan.arena_bytes, 128u);
  EXPECT_EQ(planned.plan.scratch_offset, 128u) << "among the values";
}

}  // namespace
}  // namespace alloy::compiler
