// Command lists and events on a device whose work ends when the test says so.

#include "runtime/command_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "../../remote_device/fence.h"

namespace alloy::runtime {
namespace {

using namespace std::chrono_literals;
using Phase = CommandList::Phase;
using remote::ManualFence;

using ManualRef = std::shared_ptr<ManualFence>;

class ManualStream final : public device::Stream {
 public:
  host::Status run(ir::Callable work) override { return queue_.run(work); }
  host::Status submit(std::function<void()> work) override { return queue_.submit(std::move(work)); }
  host::FenceRef fence() override { return last_ && !last_->is_over() ? last_ : nullptr; }
  void follow(const host::FenceRef& fence) override { followed.push_back(fence); }

  // A command that begins work with this end.
  CommandList::Command begins(const ManualRef& end) {
    return [this, end](device::Stream&, device::Outcome&) { last_ = end; };
  }
  // Until the items given so far are done.
  void settle() { EXPECT_TRUE(queue_.wait().ok()); }

  std::vector<host::FenceRef> followed;

 private:
  host::FenceRef last_;
  host::WorkQueue queue_;
};

struct CommandLists : testing::Test {
  std::shared_ptr<CommandList> make(CommandList::Command command) {
    auto list = std::make_shared<CommandList>();
    EXPECT_TRUE(list->add(std::move(command)));
    return list;
  }
  void commit(CommandList& list) {
    const auto observer = [&list](Phase phase) {
      if (phase != Phase::kScheduled) list.finish_handling();
    };
    EXPECT_TRUE(list.commit(stream, observer).ok());
    stream.settle();
  }
  ManualRef first_end = std::make_shared<ManualFence>(), second_end = std::make_shared<ManualFence>();
  ManualStream stream;
};

TEST_F(CommandLists, AListEndsWithTheWorkThatItBegan) {
  const auto list = make(stream.begins(first_end));
  commit(*list);
  EXPECT_EQ(list->phase(), Phase::kScheduled);
  EXPECT_FALSE(list->is_handled());
  EXPECT_EQ(list->end_time(), 0);
  first_end->reach();
  EXPECT_EQ(list->phase(), Phase::kCompleted);
  EXPECT_TRUE(list->is_handled());
  EXPECT_GE(list->end_time(), list->start_time());
}

TEST_F(CommandLists, AListBeginsWhileAnEarlierOneIsInFlight) {
  const auto first = make(stream.begins(first_end)), second = make(stream.begins(second_end));
  commit(*first);
  commit(*second);
  EXPECT_EQ(first->phase(), Phase::kScheduled);
  EXPECT_EQ(second->phase(), Phase::kScheduled);
  first_end->reach();
  EXPECT_EQ(first->phase(), Phase::kCompleted);
  EXPECT_EQ(second->phase(), Phase::kScheduled);
  second_end->reach();
  EXPECT_EQ(second->phase(), Phase::kCompleted);
}

TEST_F(CommandLists, AFailureThatIsToldLateFailsTheList) {
  device::Outcome* told = nullptr;
  const auto list = make([&](device::Stream& s, device::Outcome& outcome) {
    told = &outcome;
    stream.begins(first_end)(s, outcome);
  });
  bool was_ok = false;
  list->add([&](device::Stream&, device::Outcome& outcome) { was_ok = outcome.ok(); });
  commit(*list);
  EXPECT_TRUE(was_ok) << "the failure comes later";
  EXPECT_TRUE(list->error().ok());
  told->fail({"The first reason."});
  told->fail({"The second reason."});
  first_end->reach();
  EXPECT_EQ(list->phase(), Phase::kFailed);
  EXPECT_EQ(list->error().message, "The first reason.");
}

TEST_F(CommandLists, CommandsBehindAFailureKnowIt) {
  const auto list = make([](device::Stream&, device::Outcome& outcome) { outcome.fail({"The reason."}); });
  bool was_ok = true;
  list->add([&](device::Stream&, device::Outcome& outcome) { was_ok = outcome.ok(); });
  commit(*list);
  EXPECT_FALSE(was_ok);
  EXPECT_EQ(list->error().message, "The reason.");
}

TEST_F(CommandLists, WhatCommandsKeepLivesUntilTheEnd) {
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = kept;
  const auto list = make([kept](device::Stream&, device::Outcome&) {});
  list->add(stream.begins(first_end));
  kept.reset();
  commit(*list);
  EXPECT_FALSE(watched.expired());
  first_end->reach();
  EXPECT_TRUE(watched.expired());
}

TEST(Event, ASignalComesAfterTheFence) {
  const auto event = std::make_shared<host::Event>();
  const auto end = std::make_shared<ManualFence>();
  event->signal_after(end, 3);
  EXPECT_EQ(event->value(), 0u);
  EXPECT_FALSE(event->wait(3, 1ms)) << "the host waits for the end";
  end->reach();
  EXPECT_EQ(event->value(), 3u);
  event->signal_after(nullptr, 4);
  EXPECT_EQ(event->value(), 4u);
}

// One queue waits for another without the host.
TEST(Event, AWaitFollowsTheFenceOfTheSignal) {
  const auto event = std::make_shared<host::Event>();
  const auto end = std::make_shared<ManualFence>(), late = std::make_shared<ManualFence>();
  host::EventList list;
  list.add_wait(event, 2);
  std::vector<host::FenceRef> followed;
  const auto follow = [&](const host::FenceRef& fence) { followed.push_back(fence); };
  event->signal_after(end, 1);
  auto waiting = std::async(std::launch::async, [&] { return list.wait_all(follow).ok(); });
  EXPECT_EQ(waiting.wait_for(5ms), std::future_status::timeout) << "a smaller value is to come";
  event->signal_after(late, 2);
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(followed, std::vector<host::FenceRef>{late});
  EXPECT_EQ(event->value(), 0u);
  late->reach();
  end->reach();
  EXPECT_EQ(event->value(), 2u);
  followed.clear();
  EXPECT_TRUE(list.wait_all(follow).ok());
  EXPECT_TRUE(followed.empty()) << "the value is there";
}

}  // namespace
}  // namespace alloy::runtime
