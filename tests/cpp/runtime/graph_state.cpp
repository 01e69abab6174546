// Tests the state of a graph between runs: programs by their computation, variables by slot; runs with packed and with
// padded arrays; and that no exception crosses the boundary.
#include "runtime/graph_state.h"
#include "cpu/device.h"

#include <cstring>
#include <stdexcept>
#include <thread>

#include "graph_builder.h"
#include "runtime/guard.h"

namespace alloy::runtime {
namespace {

using namespace test;

// A float32 or int32 array with `gap` bytes behind each row.
device::ArrayMemory array(const Type& type, size_t gap = 0) {
  device::ArrayMemory memory{&cpu::cpu_device(), nullptr, {}};
  memory.layout.rank = static_cast<size_t>(type.shape.rank());
  for (size_t i = 0; i < memory.layout.rank; ++i) memory.layout.lengths[i] = static_cast<size_t>(type.shape.dims()[i]);
  memory.layout.element_bytes = size_of(type.dtype);
  memory.layout.offset = 64;
  memory.layout.set_row_bytes(memory.layout.packed_row_bytes() + gap);
  memory.storage = cpu::cpu_device().allocate(memory.layout.end());
  std::memset(memory.storage->host_bytes(), 0x5a, memory.storage->size());
  return memory;
}

void write(const device::ArrayMemory& memory, const std::vector<float>& values) {
  device::write_array(cpu::cpu_device(), *memory.storage, memory.layout, values.data(), nullptr);
}

std::vector<float> values_of(const device::ArrayMemory& memory) {
  std::vector<float> values(memory.layout.elements());
  device::read_array(cpu::cpu_device(), *memory.storage, memory.layout, values.data(), nullptr);
  return values;
}

// Runs and returns the message of the failure, or an empty one.
std::string message_of(const Run& run) {
  const std::unique_ptr<device::Stream> stream = cpu::cpu_device().make_stream();
  device::Outcome outcome;
  EXPECT_TRUE(run.run_now(*stream, outcome).ok());
  return outcome.status().message;
}

void run(const std::shared_ptr<GraphState>& state, const std::shared_ptr<Program>& program, Run::Arrays feeds,
         Run::Arrays results) {
  EXPECT_EQ(message_of(Run(state, program, std::move(feeds), std::move(results), {})), "");
}

struct Model {
  std::shared_ptr<GraphState> state = std::make_shared<GraphState>(cpu::cpu_device());
  Value x, v, sum;
  Op* write;

  Model() {
    Graph& graph = state->graph;
    x = placeholder(graph, f32({U, 3}));
    v = graph.value(OpCode::variable, {}, {{Attr::kValue, Literal::elsewhere(f32({2, 3}))}});
    const std::vector<float> initial(6, 10);
    state->allocate_variable(std::as_bytes(std::span(initial)));
    sum = graph.value(OpCode::add, {x, v});
    write = assign(graph, v, sum);
  }
};

TEST(GraphState, CompilesOnceForTheSameTask) {
  Model m;
  const uint64_t before = cpu::cpu_device().counters().compilations;
  const auto program = m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.sum}, {m.write});
  EXPECT_EQ(m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.sum}, {m.write}), program);
  EXPECT_EQ(cpu::cpu_device().counters().compilations, before + 1);
  // Other shapes, results, effects, or another order of them, need another program.
  EXPECT_NE(m.state->program(cpu::cpu_device(), {{m.x, f32({1, 3})}}, {m.sum}, {m.write}), program);
  EXPECT_NE(m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.v}, {m.write}), program);
  EXPECT_NE(m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.sum}, {}), program);
  EXPECT_NE(m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {}, {m.write}), program);
  EXPECT_NE(m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.sum, m.v}, {}),
            m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.v, m.sum}, {}));
  EXPECT_EQ(cpu::cpu_device().counters().compilations, before + 7);
}

TEST(GraphState, RemembersNoFailure) {
  Model m;
  auto mistake = [&](const Type& type) {
    return error_of([&] { m.state->program(cpu::cpu_device(), {{m.x, type}}, {m.sum}, {}); });
  };
  const uint64_t before = cpu::cpu_device().counters().compilations;
  EXPECT_EQ(mistake(f32({4, 4})), "[placeholder] The placeholder has shape (?, 3) but was fed shape (4, 4).");
  EXPECT_EQ(mistake(f32({4, 4})), mistake(f32({4, 4})));
  EXPECT_EQ(cpu::cpu_device().counters().compilations, before);
  EXPECT_EQ(mistake(f32({2, 3})), "no error");
  // A feed of another element type needs another program, even with the same shape.
  EXPECT_EQ(mistake(i32({2, 3})), "[placeholder] The placeholder is float32 but was fed int32.");
}

// After any write to a variable, programs that keep its weights packed use the new weights.
TEST(GraphState, ProgramsSeeWeightsThatOthersWrote) {
  const auto state = std::make_shared<GraphState>(cpu::cpu_device());
  Graph& graph = state->graph;
  const Type images = f32({1, 3, 3, 16}), weights = f32({3, 3, 16, 16}), sums = f32({1, 1, 1, 16});
  const Value x = placeholder(graph, images), given = placeholder(graph, weights);
  const Value w = graph.value(OpCode::variable, {}, {{Attr::kValue, Literal::elsewhere(weights)}});
  const std::vector<float> initial(3 * 3 * 16 * 16, 1);
  state->allocate_variable(std::as_bytes(std::span(initial)));
  const auto infer = state->program(cpu::cpu_device(), {{x, images}},
                                    {graph.value(OpCode::conv2d, {x, w}, convolution("valid", 1))}, {});
  const auto set = state->program(cpu::cpu_device(), {{given, weights}}, {}, {assign(graph, w, given)});
#ifdef __aarch64__
  if (infer->plan().packed_weights.empty()) GTEST_SKIP() << "kernels for vectors of NEON take weights as they are";
#endif
  ASSERT_EQ(infer->plan().packed_weights.size(), 1u);
  const device::ArrayMemory ones = array(images), out = array(sums), other = array(weights);
  write(ones, std::vector<float>(3 * 3 * 16, 1));
  for (float weight = 1; weight < 4; ++weight) {
    for (int turn = 0; turn < 2; ++turn) {
      run(state, infer, {ones}, {out});
      EXPECT_EQ(values_of(out), std::vector<float>(16, weight * 3 * 3 * 16));
    }
    write(other, std::vector<float>(initial.size(), weight + 1));
    run(state, set, {other}, {});
  }
}

TEST(GraphState, ProgramsShareTheVariables) {
  Model m;
  const auto update = m.state->program(cpu::cpu_device(), {{m.x, f32({1, 3})}}, {}, {m.write}),
             look = m.state->program(cpu::cpu_device(), {}, {m.v}, {});
  const device::ArrayMemory x = array(f32({1, 3})), out = array(f32({2, 3}));
  write(x, {1, 2, 3});
  const uint64_t before = cpu::cpu_device().counters().dispatches;
  for (float round : {1.0f, 2.0f}) {
    run(m.state, update, {x}, {});
    run(m.state, look, {}, {out});
    EXPECT_EQ(values_of(out), (std::vector<float>{10 + round, 10 + 2 * round, 10 + 3 * round, 10 + round,
                                                  10 + 2 * round, 10 + 3 * round}));
  }
  EXPECT_EQ(cpu::cpu_device().counters().dispatches, before + 4);
}

TEST(GraphState, ARunInProgressIsInterrupted) {
  Model m;
  Graph& graph = m.state->graph;
  using Values = std::vector<Value>;
  const Op* loop = while_loop(
      graph, {m.x}, [&](const Values& values) { return Values{constant(graph, bools({}), 1), values[0]}; },
      [&](const Values& values) { return Values{graph.value(OpCode::sqrt, values)}; });
  Op* const update = assign(graph, m.v, graph.value(OpCode::add, {loop->result(), m.v}));
  const auto endless = m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {}, {update}),
             look = m.state->program(cpu::cpu_device(), {}, {m.v}, {});
  const device::ArrayMemory x = array(f32({2, 3})), out = array(f32({2, 3}));
  write(x, std::vector<float>(6, 2));
  EXPECT_FALSE(m.state->interrupt()) << "nothing runs";
  for (int i = 0; i < 100; ++i) {  // at different moments
    std::string message;
    std::thread thread([&] { message = message_of(runtime::Run(m.state, endless, {x}, {}, {})); });
    while (!m.state->interrupt()) std::this_thread::yield();
    thread.join();
    ASSERT_EQ(message, "The run was interrupted; no variable has changed.");
    ASSERT_FALSE(m.state->interrupt()) << "nothing runs any more";
  }
  run(m.state, look, {}, {out});
  EXPECT_EQ(values_of(out), std::vector<float>(6, 10));
}

TEST(GraphState, ArraysMayHaveGapsBetweenRows) {
  Model m;
  const auto program = m.state->program(cpu::cpu_device(), {{m.x, f32({2, 3})}}, {m.sum, m.x}, {});
  for (size_t gap : {0, 4, 52}) {
    SCOPED_TRACE(gap);
    const device::ArrayMemory x = array(f32({2, 3}), gap), sum = array(f32({2, 3}), gap), same = array(f32({2, 3}));
    write(x, {1, 2, 3, 4, 5, 6});
    run(m.state, program, {x}, {sum, same});
    EXPECT_EQ(values_of(sum), (std::vector<float>{11, 12, 13, 14, 15, 16}));
    EXPECT_EQ(values_of(same), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    // The bytes between rows and before the array belong to others.
    const std::byte* bytes = sum.storage->host_bytes();
    for (size_t i = 0; i < sum.layout.offset; ++i) ASSERT_EQ(bytes[i], std::byte{0x5a});
    for (size_t i = 0; i < gap; ++i) ASSERT_EQ(bytes[sum.layout.offset + 12 + i], std::byte{0x5a});
  }
}

TEST(GraphState, ArraysMayBeEmpty) {
  Model m;
  Graph& graph = m.state->graph;
  const Value y = graph.value(OpCode::exp, {m.x});
  const auto program = m.state->program(cpu::cpu_device(), {{m.x, f32({0, 3})}}, {y}, {});
  run(m.state, program, {array(f32({0, 3}))}, {array(f32({0, 3}), 8)});
}

// ---- guard ----

TEST(Guard, ReturnsTheSentenceOfAnException) {
  EXPECT_EQ(guard([] {}), "");
  EXPECT_EQ(guard([] { throw std::runtime_error("It broke."); }), "It broke.");
  EXPECT_EQ(guard([] { throw Error(Error::Kind::kType, "[add] No."); }), "[add] No.");
  EXPECT_EQ(guard([] { throw std::bad_alloc(); }), "Memory is exhausted.");
  EXPECT_EQ(guard([] { throw std::runtime_error(""); }), "An exception without a message.");
}

}  // namespace
}  // namespace alloy::runtime
