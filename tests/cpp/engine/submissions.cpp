// Tests steps in flight: their order and number, the values they read and leave, the effect of a failure on later
// steps.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "engine/error.h"
#include "engine/interruption.h"
#include "engine/stats.h"
#include "engine_testing.h"
#include "watch/watch.h"

namespace alloy::test {
namespace {

using engine::Executable;
using engine::Submission;
using engine::VariableStorage;
using namespace std::chrono_literals;

// A step that adds x to a variable and returns the sum.
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

  std::shared_ptr<Submission> submit(const float* values, std::shared_ptr<const void> owner = nullptr,
                                     const engine::Order& order = {}) {
    const engine::FeedBytes feed{values, std::move(owner)};
    return step->submit(step_of(*step), &feed, order);
  }
  std::shared_ptr<Submission> submit(float value, const engine::Order& order = {}) {
    return submit(std::vector<float>(kCount, value).data(), nullptr, order);
  }
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

TEST_P(Submissions, OutliveTheirExecutableAndGraph) {
  watch.hold();
  auto submission = submit(1);
  auto other = std::make_shared<engine::Graph>(GetParam());
  std::shared_ptr<Submission> alone;
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
  if (keeps_variables()) graph->set_most_in_flight(1);  // which this storage sets anyway
  step_of(*step);
  watch.hold();
  std::vector<std::shared_ptr<Submission>> flying;
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
  std::shared_ptr<Submission> behind;
  // Buffers: the next step waits for the end of the one before, and gets its error at once.
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

// A step of another graph that is fed the first result of a submission.
struct Follower {
  std::shared_ptr<engine::Graph> graph = std::make_shared<engine::Graph>();
  const Value x = placeholder(graph->ir(), f32({int64_t{Submissions::kCount}}));
  const std::shared_ptr<Executable> step =
      graph->compile({x}, {graph->ir().value(OpCode::add, {x, x})}, std::vector<Op*>{});

  std::shared_ptr<Submission> submit(std::shared_ptr<Submission> from, const engine::Order& order = {}) {
    const engine::Pending pending{std::move(from), 0};
    const engine::FeedBytes feed{nullptr, nullptr, &pending};
    return step->submit(step_of(*step), &feed, order);
  }
};

TEST_P(Submissions, AreFedWhereTheyLie) {
  Follower follower;
  engine::Order order;
  order.queue = std::make_shared<engine::Queue>();
  step_of(*step), step_of(*follower.step);
  watch.hold();
  std::shared_ptr<Submission> from = submit(3);
  const uint64_t before = engine::stats().bytes_to_device;
  const auto fed = follower.submit(from, order), again = follower.submit(from);
  from.reset();  // its result lives until the other steps have ended
  watch.release();
  EXPECT_EQ(first(*fed), 8);
  EXPECT_EQ(first(*again), 8);
  EXPECT_EQ(engine::stats().bytes_to_device, before);
  EXPECT_EQ(first(*submit(1)), 5);
}

TEST_P(Submissions, ThatFailTakeAlongWhatIsFedTheirResults) {
  Follower follower, last;
  step_of(*step), step_of(*follower.step), step_of(*last.step);
  watch.hold();
  watch.fail_next();
  const std::shared_ptr<Submission> failing = submit(1), fed = follower.submit(failing), behind = last.submit(fed);
  watch.release();
  EXPECT_EQ(message([&] { first(*behind); }),
            "[step] The step whose result it was fed failed: The step whose result it was fed failed: "
            "The device was lost.");
  const std::string refused = message([&] { follower.submit(failing); });
  EXPECT_EQ(refused, "[step] The step whose result it is fed failed: The device was lost.");
  // Each graph gets the error once, now or later, and goes on.
  EXPECT_NE(message([&] { first(*failing); }), "no failure");
  EXPECT_NE(message([&] { first(*fed); }), "no failure");
  std::vector<float> ones(kCount, 1), out(kCount);
  for (Follower* one : {&follower, &last}) {
    test::run(*one->step, {ones.data()}, {out.data()});
    EXPECT_EQ(out, std::vector<float>(kCount, 2));
  }
  submit(1)->wait();
}

TEST_P(Submissions, BehindSeveralThatFailSayItOnce) {
  if (keeps_variables()) return;  // which allow only one step in flight
  graph->set_most_in_flight(4);
  step_of(*step);
  watch.hold();
  watch.fail_next();
  std::vector<std::shared_ptr<Submission>> flying;
  for (int i = 0; i < 4; ++i) flying.push_back(submit(1));
  watch.release();
  for (int i = 3; i > 0; --i) {
    EXPECT_EQ(message([&] { first(*flying[i]); }),
              "[step] A step before this one failed: The device was lost. Variables that it assigns may be partly "
              "updated.");
  }
}

// A graph that is freed while an event holds its steps does not wait; the steps' memory is freed when they end.
TEST_P(Submissions, WhoseGraphGoesAreNotWaitedFor) {
  const uint64_t live = engine::stats().live_objects;
  const auto gate = std::make_shared<engine::Event>();
  const auto allocated = [] { return engine::device_stats().value_or(engine::Stats{}).allocated_bytes; };
  const uint64_t before = allocated();
  std::vector<std::shared_ptr<engine::Event>> ended;
  for (int i = 0; i < 3; ++i) {
    auto other = std::make_shared<engine::Graph>(GetParam());
    const Value w = other->variable(Literal::splat(f32({int64_t{kCount}}), 3));
    const Value sum = other->ir().value(OpCode::add, {w, w});
    const auto executable = other->compile({}, {sum}, {assign(other->ir(), w, sum)});
    engine::Order order;
    order.waits = {{gate, 1}};
    order.signals = {{ended.emplace_back(std::make_shared<engine::Event>()), 1}};
    if (i == 1) order.queue = std::make_shared<engine::Queue>();
    executable->submit(step_of(*executable), nullptr, order);
  }
  EXPECT_EQ(engine::stats().live_objects, live);
  gate->signal(1);
  for (const auto& event : ended) EXPECT_TRUE(event->wait(1, 20));
  for (int i = 0; i < 2000 && allocated() > before; ++i) {
    std::this_thread::sleep_for(1ms);
    std::make_shared<engine::Graph>();
  }
  EXPECT_LE(allocated(), before);
}

TEST_P(Submissions, TellOnceWhenTheyAreOver) {
  step_of(*step);
  watch.hold();
  const auto submission = submit(1);
  std::atomic<int> told{0};
  std::promise<void> ended;
  for (int i = 0; i < 3; ++i) submission->when_over([&told] { ++told; });
  submission->when_over([&ended] { ended.set_value(); });
  EXPECT_EQ(told, 0);
  watch.release();
  EXPECT_EQ(ended.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(told, 3);
  submission->when_over([&told] { ++told; });
  EXPECT_EQ(told, 4);
}

// Like a trainer's batches: each memory is lent once to each run.
TEST_P(Submissions, MemoryThatTakesTurnsIsLentOnce) {
  struct Free {
    void operator()(const void* memory) const { std::free(const_cast<void*>(memory)); }
  };
  std::vector<std::shared_ptr<const void>> rings;
  for (int i = 0; i < 3; ++i) {
    auto* memory = static_cast<float*>(std::aligned_alloc(1 << 16, kCount * sizeof(float)));
    std::fill(memory, memory + kCount, i);
    rings.emplace_back(memory, Free());
  }
  float expected = 1;
  for (int i = 0; i < 12; ++i) {
    const auto& ring = rings[i % 3];
    expected += static_cast<float>(i % 3);
    EXPECT_EQ(first(*submit(static_cast<const float*>(ring.get()), ring)), expected);
  }
  EXPECT_EQ(watch.lent(), 3u);  // one run, which is reused
}

// A check called while waiting may throw; then nothing has changed.
TEST_P(Submissions, ThatAreWaitedForMayBeGivenUp) {
  struct Interrupted {};
  const auto gate = std::make_shared<engine::Event>();
  step_of(*step);
  engine::Order order;
  order.waits = {{gate, 1}};
  const auto held = submit(1, order);
  engine::set_interruption([] { throw Interrupted(); });
  EXPECT_THROW(first(*held), Interrupted);
  EXPECT_THROW(value(), Interrupted);
  EXPECT_THROW(gate->wait(1, std::nullopt), Interrupted);
  std::vector<float> ones(kCount, 1), out(kCount);
  EXPECT_THROW(test::run(*step, {ones.data()}, {out.data()}), Interrupted);
  engine::set_interruption(nullptr);
  gate->signal(1);
  EXPECT_EQ(first(*held), 2);
  EXPECT_EQ(value(), 2);
}

// The framework's call returns at the end of the run, but the handler may not have been called by then.
TEST_P(Submissions, ACallWhoseEndIsNeverToldMayBeGivenUp) {
  struct Interrupted {};
  std::vector<float> ones(kCount, 1), out(kCount);
  watch.tell_late_of_next();
  engine::set_interruption([] { throw Interrupted(); });
  EXPECT_THROW(test::run(*step, {ones.data()}, {out.data()}), Interrupted);
  EXPECT_THROW(value(), Interrupted);
  engine::set_interruption(nullptr);
  watch.release();
  EXPECT_EQ(value(), 2);
  test::run(*step, {ones.data()}, {out.data()});
  EXPECT_EQ(value(), 3);
}

INSTANTIATE_TEST_SUITE_P(Storages, Submissions, testing::Values(VariableStorage::kVariable, VariableStorage::kBuffers),
                         [](const auto& info) {
                           return info.param == VariableStorage::kVariable ? "variable" : "buffers";
                         });

}  // namespace
}  // namespace alloy::test
