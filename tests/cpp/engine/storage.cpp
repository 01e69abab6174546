// Tests variables in both storages, and feeds: the values that a run reads and leaves, the arrays it is given, the
// effect of a failure.
#include <sys/mman.h>

#include <optional>

#include "engine/error.h"
#include "engine/stats.h"
#include "engine_testing.h"
#include "watch/watch.h"

namespace alloy::test {
namespace {

using engine::Executable;
using engine::VariableStorage;

class State : public testing::TestWithParam<VariableStorage> {
 public:
  std::shared_ptr<engine::Graph> graph = std::make_shared<engine::Graph>(GetParam());
  ir::Graph& ir = graph->ir();

  Value scalar(double initial) { return graph->variable(Literal::splat(f32({}), initial)); }
  Value number(double value) { return constant(ir, f32({}), value); }
  Value sum(Value a, Value b) { return ir.value(OpCode::add, {a, b}); }

  std::vector<float> run(std::vector<Value> fetches, std::vector<Op*> updates) {
    std::vector<float> out(fetches.size());
    std::vector<void*> results;
    for (float& f : out) results.push_back(&f);
    test::run(*graph->compile({}, fetches, updates), {}, results);
    return out;
  }

  float value(Value variable) { return value_of(*graph, variable); }
};

using Floats = std::vector<float>;

TEST_P(State, ReadsSeeTheAssignmentsBeforeThem) {
  const Value v = scalar(1), before = read(ir, v);
  ir.after = {assign(ir, v, sum(v, number(1)))};
  const Value between = read(ir, v);
  ir.after.clear();
  Op* second = assign(ir, v, ir.value(OpCode::multiply, {between, number(10)}));
  EXPECT_EQ(run({v, before, between, read(ir, v)}, {second}), (Floats{1, 1, 2, 20}));
  EXPECT_EQ(value(v), 20);
}

TEST_P(State, AnAssignmentThatComesBeforeSomethingHappens) {
  const Value v = scalar(1), w = scalar(5);
  ir.after = {assign(ir, v, number(2))};
  const Value copy = ir.value(OpCode::identity, {w});
  ir.after.clear();
  EXPECT_EQ(run({copy}, {}), Floats{5});
  EXPECT_EQ(value(v), 2);
  ir.after = {assign(ir, v, number(3))};
  Op* late = assign(ir, w, read(ir, v));
  ir.after.clear();
  run({}, {late});
  EXPECT_EQ(value(w), 3);
}

TEST_P(State, OneValueForTwoVariables) {
  const Value a = scalar(1), b = scalar(2), total = sum(a, b);
  EXPECT_EQ(run({total, total}, {assign(ir, a, total), assign(ir, b, total)}), (Floats{3, 3}));
  EXPECT_EQ((Floats{value(a), value(b)}), (Floats{3, 3}));
}

TEST_P(State, AssignedAndNeverRead) {
  const Value a = scalar(1);
  run({}, {assign(ir, a, number(7))});
  EXPECT_EQ(value(a), 7);
}

// Executables that write some, all and none of the variables run in turns.
TEST_P(State, NoArrayIsBothFedAndWritten) {
  const Value a = scalar(0), b = scalar(0);
  Op *step_a = assign(ir, a, sum(a, number(1))), *step_b = assign(ir, b, sum(b, a));
  const auto first = graph->compile({}, {}, {step_a}), both = graph->compile({}, {}, {step_a, step_b}),
             none = graph->compile({}, {sum(a, b)}, {});
  float expected_a = 0, expected_b = 0;
  const Watch watch;
  for (int i = 0; i < 20; ++i) {
    float seen = 0;
    void* result = &seen;
    if (i % 3 == 0) {
      test::run(*first, {}, {});
    } else {
      test::run(*both, {}, {});
      expected_b += expected_a;
    }
    expected_a += 1;
    test::run(*none, {}, {result});
    EXPECT_EQ(seen, expected_a + expected_b) << "run " << i;
  }
  EXPECT_EQ(watch.runs(), 40u);
  EXPECT_EQ(watch.aliased(), 0u);
}

TEST_P(State, AFailureOfTheDeviceIsToldWithWhatIsLeft) {
  const Value v = scalar(1);
  const auto step = graph->compile({}, {}, {assign(ir, v, sum(v, number(1)))}),
             look = graph->compile({}, {sum(v, v)}, {});
  test::run(*step, {}, {});
  Watch watch;
  const auto fail = [&](Executable& executable, const std::vector<void*>& results, const std::string& expected) {
    watch.fail_next();
    try {
      test::run(executable, {}, results);
      ADD_FAILURE() << "the device's failure was swallowed";
    } catch (const engine::DeviceError& error) {
      EXPECT_EQ(error.what(), expected);
    }
    EXPECT_EQ(watch.left(), 0u);
  };
  const bool keeps = GetParam() == VariableStorage::kBuffers;
  fail(*step, {},
       std::string("[step] The device was lost. ") +
           (keeps ? "No variable has changed." : "Variables that it assigns may be partly updated."));
  const float left = value(v);
  if (keeps) {
    EXPECT_EQ(left, 2);
  }
  float seen;
  fail(*look, {&seen}, "[step] The device was lost.");
  test::run(*step, {}, {});
  EXPECT_EQ(value(v), left + 1);
}

INSTANTIATE_TEST_SUITE_P(Storages, State, testing::Values(VariableStorage::kVariable, VariableStorage::kBuffers),
                         [](const auto& info) {
                           return info.param == VariableStorage::kVariable ? "variable" : "buffers";
                         });

TEST(Device, TheEndOfTheProcessIsNoFailureOfTheDevice) {
  const auto graph = std::make_shared<engine::Graph>(VariableStorage::kVariable);
  const auto step = graph->compile({}, {constant(graph->ir(), f32({}), 1)}, {});
  float out;
  void* to = &out;
  Watch watch;
  watch.abort_next();
  try {
    test::run(*step, {}, {to});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const engine::DeviceError&) {
    ADD_FAILURE() << "taken for a failure of the device";
  } catch (const engine::WouldAbort& aborts) {
    EXPECT_STREQ(aborts.what(), "The process has ended.");
  }
}

class Feeds : public testing::TestWithParam<VariableStorage> {};

// Accessing freed memory would be noticed.
TEST_P(Feeds, MemoryIsLentForOneRunAlsoIfItFails) {
  constexpr size_t kCount = 1 << 16;
  const auto graph = std::make_shared<engine::Graph>(GetParam());
  const Value x = placeholder(graph->ir(), f32({int64_t{kCount}}));
  const auto step = graph->compile({x}, {graph->ir().value(OpCode::add, {x, x}), x}, {});
  std::vector<float> doubled(kCount), same(kCount), elsewhere(kCount + 1);
  const auto run = [&](float* values, float value) {
    std::fill(values, values + kCount, value);
    test::run(*step, {values}, {doubled.data(), same.data()});
  };
  const auto run_mapped = [&](float value) {
    struct Mapped {
      void* memory = mmap(nullptr, kCount * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ~Mapped() { munmap(memory, kCount * sizeof(float)); }
    } mapped;
    run(static_cast<float*>(mapped.memory), value);
  };
  const auto expect = [&](float value) {
    EXPECT_EQ(doubled, std::vector<float>(kCount, 2 * value));
    EXPECT_EQ(same, std::vector<float>(kCount, value));
  };
  // Apple's devices do not report their allocations.
  const auto allocated = [] {
    const auto stats = engine::device_stats();
    return stats ? std::optional(stats->allocated_bytes) : std::nullopt;
  };
  run_mapped(1);
  expect(1);
  const auto before = allocated();
  const uint64_t copied = engine::stats().bytes_to_device;
  Watch watch;
  for (bool has_copied : {false, true}) {
    watch.fail_next();
    EXPECT_THROW(run_mapped(2), engine::DeviceError);
    if (before) {
      EXPECT_EQ(*allocated() - *before, has_copied ? kCount * sizeof(float) : 0);
    }
    run_mapped(3);
    expect(3);
    // No page begins between elements.
    run(elsewhere.data() + (reinterpret_cast<uintptr_t>(elsewhere.data()) % 64 == 0), 4);
    expect(4);
  }
  EXPECT_EQ(engine::stats().bytes_to_device - copied, 2 * kCount * sizeof(float));
}

TEST_P(Feeds, MemoryThatSomebodyKeepsIsLentOnceForManyRuns) {
  constexpr size_t kCount = 1 << 16;
  struct Free {
    void operator()(const void* memory) const { std::free(const_cast<void*>(memory)); }
  };
  const auto graph = std::make_shared<engine::Graph>(GetParam());
  const Value x = placeholder(graph->ir(), f32({int64_t{kCount}}));
  const auto executable = graph->compile({x}, {graph->ir().value(OpCode::add, {x, x})}, {});
  const auto step = step_of(*executable);
  std::vector<float> doubled(kCount);
  void* result = doubled.data();
  const auto kept = [](float value) {
    auto* memory = static_cast<float*>(std::aligned_alloc(1 << 16, kCount * sizeof(float)));
    std::fill(memory, memory + kCount, value);
    return std::shared_ptr<const void>(memory, Free());
  };
  const Watch watch;
  const auto run = [&](const std::shared_ptr<const void>& memory, float expected) {
    const engine::FeedBytes feed{memory.get(), memory};
    executable->run(step, &feed, &result);
    EXPECT_EQ(doubled, std::vector<float>(kCount, expected));
  };
  auto first = kept(1);
  const auto second = kept(2);
  const std::weak_ptr<const void> of_first = first;
  for (int i = 0; i < 3; ++i) run(first, 2);
  EXPECT_EQ(watch.lent(), 1u);
  first.reset();
  EXPECT_FALSE(of_first.expired());
  for (int i = 0; i < 3; ++i) run(second, 4);
  EXPECT_EQ(watch.lent(), 2u);
  EXPECT_TRUE(of_first.expired());
}

INSTANTIATE_TEST_SUITE_P(Storages, Feeds, testing::Values(VariableStorage::kVariable, VariableStorage::kBuffers),
                         [](const auto& info) {
                           return info.param == VariableStorage::kVariable ? "variable" : "buffers";
                         });

}  // namespace
}  // namespace alloy::test
