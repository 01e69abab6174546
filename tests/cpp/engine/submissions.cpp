// Steps in flight: their order, how many there are, what they read and leave, what a failure costs those behind.
#include <chrono>
#include <future>

#include "engine/error.h"
#include "engine/stats.h"
#include "engine_testing.h"
#include "watch/watch.h"

namespace alloy::test {
namespace {

using engine::Executable;
using engine::Submission;
using engine::VariableStorage;
using namespace std::chrono_literals;

// A step that adds x to a variable and gives the sum.
class Submissions : public testing::TestWithParam<VariableStorage> {
 public:
  static constexpr size_t kCount = 1 << 16;
  std::shared_ptr<engine::Graph> graph = std::make_shared<engine::Graph>(GetParam());
  ir::Graph& ir = graph->ir();
  const Value x = placeholder(ir, f32({int64_t{kCount}}));
  const Value v = graph->variable(Literal::splat(f32({int64_t{kCount}}), 1));
  const Value sum = ir.value(OpCode::add, {v, x});
  const std::shared_ptr<Executable> step = graph->compile({x}, {sum}, {assign(ir, v, sum)});
  Watch watch;

  std::unique_ptr<Submission> submit(const float* values, std::shared_ptr<const void> owner = nullptr) {
    const engine::FeedBytes feed{values, std::move(owner)};
    return step->submit(step_of(*step), &feed);
  }
  std::unique_ptr<Submission> submit(float value) { return submit(std::vector<float>(kCount, value).data()); }
  static float first(const Submission& submission) {
    std::vector<float> out(kCount);
    void* to = out.data();
    submission.read(&to);
    EXPECT_EQ(out, std::vector<float>(kCount, out[0]));
    return out[0];
  }
  float value() {
    std::vector<float> out(kCount);
    void* to = out.data();
    graph->read({v}, &to);
    EXPECT_EQ(out, std::vector<float>(kCount, out[0]));
    return out[0];
  }
  bool keeps_variables() const { return GetParam() == VariableStorage::kBuffers; }
};

std::string message(const std::function<void()>& work) {
  try {
    work();
  } catch (const engine::DeviceError& error) {
    return error.what();
  }
  return "no failure";
}

TEST_P(Submissions, RunInOrderAndAreReadInAny) {
  const auto first_one = submit(1), second = submit(10), third = submit(100);
  EXPECT_EQ(first(*third), 112);
  EXPECT_EQ(first(*first_one), 2);
  EXPECT_EQ(first(*second), 12);
  EXPECT_EQ(first(*third), 112);
  EXPECT_EQ(value(), 112);
}

TEST_P(Submissions, ThatNobodyReadsCountToo) {
  for (int i = 0; i < 20; ++i) submit(1);
  EXPECT_EQ(value(), 21);
}

TEST_P(Submissions, OutliveTheirExecutableAndGraph) {
  watch.hold();
  auto submission = submit(1);
  auto other = std::make_shared<engine::Graph>(GetParam());
  std::unique_ptr<Submission> alone;
  {
    const Value w = other->variable(Literal::splat(f32({}), 3));
    const auto executable = other->compile({}, {other->ir().value(OpCode::add, {w, w})}, {});
    alone = executable->submit(step_of(*executable), nullptr);
    other.reset();
  }
  watch.release();
  float out;
  void* to = &out;
  alone->read(&to);
  EXPECT_EQ(out, 6);
  EXPECT_EQ(first(*submission), 2);
}

TEST_P(Submissions, ReadTheirFeedsAsTheyWereUnlessSomebodyKeepsThem) {
  step_of(*step);
  watch.hold();
  std::vector<float> values(kCount, 1);
  const auto copied = submit(values.data());
  std::fill(values.begin(), values.end(), 5.0f);
  watch.release();
  EXPECT_EQ(first(*copied), 2);

  struct Free {
    void operator()(const void* memory) const { std::free(const_cast<void*>(memory)); }
  };
  auto* memory = static_cast<float*>(std::aligned_alloc(1 << 16, kCount * sizeof(float)));
  std::fill(memory, memory + kCount, 7.0f);
  std::shared_ptr<const void> owner(memory, Free());
  const std::weak_ptr<const void> kept = owner;
  const uint64_t before = engine::stats().bytes_to_device;
  const auto lent = submit(memory, std::move(owner));
  EXPECT_FALSE(kept.expired());
  EXPECT_EQ(first(*lent), 9);
  EXPECT_EQ(engine::stats().bytes_to_device, before);
}

TEST_P(Submissions, WaitForTheOldestWhereTooManyAreInFlight) {
  if (keeps_variables()) graph->set_most_in_flight(1);  // which is what this storage allows anyway
  step_of(*step);
  watch.hold();
  std::vector<std::unique_ptr<Submission>> flying;
  for (int i = 0; i < (keeps_variables() ? 1 : 2); ++i) flying.push_back(submit(1));
  for (const auto& submission : flying) EXPECT_FALSE(submission->is_over());
  auto one_more = std::async(std::launch::async, [&] { return submit(1); });
  EXPECT_EQ(one_more.wait_for(100ms), std::future_status::timeout);
  watch.release();
  const auto last = one_more.get();
  EXPECT_TRUE(flying[0]->is_over());
  EXPECT_EQ(first(*last), static_cast<float>(flying.size()) + 2);
}

TEST_P(Submissions, AreOverBeforeTheirGraphIsCompiledAgain) {
  watch.hold();
  const auto submission = submit(1);
  auto compiled = std::async(std::launch::async, [&] {
    const auto other = graph->compile({}, {ir.value(OpCode::multiply, {v, v})}, {});
    const auto made = step_of(*other);
    return submission->is_over();
  });
  EXPECT_EQ(compiled.wait_for(100ms), std::future_status::timeout);
  watch.release();
  EXPECT_TRUE(compiled.get());
}

TEST_P(Submissions, BehindOneThatFailsFailToo) {
  EXPECT_EQ(first(*submit(1)), 2);
  watch.fail_next();
  const auto failing = submit(1);
  std::unique_ptr<Submission> behind;
  // Buffers: the next one waits for the end of the one before, and is told at once.
  if (keeps_variables()) {
    EXPECT_EQ(message([&] { submit(1); }), "[step] A step before this one failed: The device was lost.");
  } else {
    behind = submit(1);
  }
  const std::string left =
      keeps_variables() ? " No variable has changed." : " Variables that it assigns may be partly updated.";
  EXPECT_EQ(message([&] { first(*failing); }), "[step] The device was lost." + left);
  EXPECT_EQ(message([&] { first(*failing); }), "[step] The device was lost." + left);
  if (behind) {
    EXPECT_EQ(message([&] { first(*behind); }), "[step] A step before this one failed: The device was lost." + left);
  }
  const float now = value();
  if (keeps_variables()) {
    EXPECT_EQ(now, 2);
  }
  EXPECT_EQ(first(*submit(1)), now + 1);
}

TEST_P(Submissions, ThatFailedAndThatNobodyReadsAreToldByTheNextStep) {
  watch.fail_next();
  submit(1);
  EXPECT_EQ(message([&] {
              value();
              value();
            }),
            keeps_variables() ? "no failure" : "[step] A step before this one failed: The device was lost.");
  if (keeps_variables()) {
    EXPECT_EQ(message([&] { submit(1); }), "[step] A step before this one failed: The device was lost.");
  }
  const float now = value();
  EXPECT_EQ(first(*submit(1)), now + 1);
}

INSTANTIATE_TEST_SUITE_P(Storages, Submissions, testing::Values(VariableStorage::kVariable, VariableStorage::kBuffers),
                         [](const auto& info) {
                           return info.param == VariableStorage::kVariable ? "variable" : "buffers";
                         });

}  // namespace
}  // namespace alloy::test
