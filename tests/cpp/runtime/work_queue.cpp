// Queues of work: order, threads that stay awake for a while, and refusals.

#include "host/work_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace alloy::host {
namespace {

using namespace std::chrono_literals;

class Queues : public testing::TestWithParam<std::chrono::microseconds> {
 protected:
  WorkQueue queue{GetParam()};
};

// Pauses shorter and longer than the thread stays awake.
TEST_P(Queues, ItemsRunInOrderWhateverTheThreadDoesMeanwhile) {
  std::vector<int> order;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(queue.submit([&order, i] { order.push_back(i); }).ok());
    if (i % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(i));
    if (i % 3 == 2) {
      ASSERT_TRUE(queue.wait().ok());
    }
  }
  ASSERT_TRUE(queue.wait().ok());
  for (int i = 0; i < 300; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_P(Queues, TheCallerRunsWorkOfAnIdleQueue) {
  ASSERT_TRUE(queue.submit([] {}).ok());
  ASSERT_TRUE(queue.wait().ok());
  std::thread::id by;
  EXPECT_TRUE(queue.run_if_idle([&by] { by = std::this_thread::get_id(); }));
  EXPECT_EQ(by, std::this_thread::get_id());
}

TEST_P(Queues, ItemsOfAQueueThatIsGoneStillRun) {
  std::atomic<int> done{0};
  {
    WorkQueue gone{GetParam()};
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(gone.submit([&done] {
                        std::this_thread::sleep_for(1ms);
                        ++done;
                      })
                      .ok());
    }
  }
  while (done < 3) std::this_thread::sleep_for(1ms);
}

TEST_P(Queues, RefusedWorkIsLeftToTheCaller) {
  ASSERT_TRUE(queue.submit([] {}).ok());
  ASSERT_TRUE(queue.wait().ok());
  const pid_t child = fork();
  if (child == 0) {  // where no thread of the queue is
    bool called = false;
    std::function<void()> work = [&called] { called = true; };
    const bool refused = !queue.submit(std::move(work)).ok();
    if (refused) work();
    _exit(refused && called ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Awake, Queues, testing::Values(0us, 50us));

}  // namespace
}  // namespace alloy::host
