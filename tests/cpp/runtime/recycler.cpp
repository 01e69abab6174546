// Memory that one thread takes and another one gives back.

#include "host/recycler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "host/work_queue.h"

namespace alloy::host {
namespace {

// More blocks at once than there are spare ones, of sizes on both sides of the largest that is kept.
TEST(Recycler, BlocksInUseAreApart) {
  constexpr size_t kBytes[] = {0, 1, 128, 129, 1024, 1025, 5000};
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::pair<char*, size_t>> blocks;
    for (int i = 0; i < 40; ++i) {
      for (const size_t bytes : kBytes) {
        blocks.emplace_back(static_cast<char*>(take_recycled(bytes)), bytes);
        std::memset(blocks.back().first, static_cast<int>(blocks.size() % 251), bytes);
      }
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::vector<char> expected(blocks[i].second, static_cast<char>((i + 1) % 251));
      EXPECT_EQ(std::memcmp(blocks[i].first, expected.data(), expected.size()), 0);
    }
    for (const auto& [memory, bytes] : blocks) recycle(memory, bytes);
  }
}

// It is one of the spare blocks, of which there are 16. The other thread goes on, so malloc would keep it for that one.
TEST(Recycler, MemoryThatAnotherThreadFreesIsUsedAgain) {
  constexpr size_t kBytes = 700, kSpares = 16;
  std::vector<void*> taken;
  const auto take_all = [&] {
    while (taken.size() < kSpares) taken.push_back(take_recycled(kBytes));
  };
  take_all();
  void* const given = taken.back();
  taken.pop_back();
  WorkQueue queue;
  ASSERT_TRUE(queue.submit([given] { recycle(given, kBytes); }).ok());
  ASSERT_TRUE(queue.wait().ok());
  take_all();
  EXPECT_EQ(taken.back(), given);
  for (void* const memory : taken) recycle(memory, kBytes);
}

// Several threads take blocks and hand them to several others, all at once.
TEST(Recycler, NoBlockIsInTwoHands) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread, &wrong] {
      WorkQueue queue;
      for (int i = 0; i < 20000; ++i) {
        const int value = 4 * i + thread;
        auto kept = std::allocate_shared<std::vector<int>>(Recycler<std::vector<int>>(), 20, value);
        EXPECT_TRUE(queue
                        .submit([kept = std::move(kept), value, &wrong] {
                          for (const int element : *kept) wrong += element != value;
                        })
                        .ok());
      }
      EXPECT_TRUE(queue.wait().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace alloy::host
