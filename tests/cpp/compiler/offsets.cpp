#include "compiler/offsets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace alloy::compiler {
namespace {

// The most bytes that live at one time; no arrangement needs fewer.
size_t least(const std::vector<Lifetime>& buffers) {
  std::vector<std::pair<size_t, int64_t>> changes;
  for (const Lifetime& b : buffers) {
    changes.emplace_back(b.first, static_cast<int64_t>(b.bytes));
    changes.emplace_back(b.last + 1, -static_cast<int64_t>(b.bytes));
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return static_cast<size_t>(most);
}

// True if no two blocks that live at the same time overlap, and none goes beyond the end.
void expect_apart(const std::vector<Lifetime>& buffers, const Offsets& offsets) {
  std::vector<size_t> order(buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return offsets.of[a] < offsets.of[b]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const Lifetime& a = buffers[order[i]];
    const size_t end = offsets.of[order[i]] + a.bytes;
    ASSERT_LE(end, offsets.end);
    for (size_t k = i + 1; k < order.size() && offsets.of[order[k]] < end; ++k) {
      const Lifetime& b = buffers[order[k]];
      ASSERT_TRUE(b.bytes == 0 || a.last < b.first || b.last < a.first) << order[i] << " and " << order[k];
    }
  }
}

std::vector<Lifetime> random_buffers(size_t count, size_t times, size_t longest, size_t sizes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Lifetime> buffers;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = random() % times;
    buffers.push_back({64 * (random() % sizes), first, std::min(first + random() % longest, times - 1)});
  }
  return buffers;
}

TEST(Offsets, OfNothing) {
  EXPECT_EQ(assign_offsets({}).end, 0u);
  EXPECT_EQ(assign_offsets({{0, 0, 5}, {0, 2, 3}}).end, 0u);
}

TEST(Offsets, KeepApartWhatLivesAtTheSameTime) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const size_t count : {5, 60, 700}) {
      const auto buffers = random_buffers(count, 1 + seed * 20, 1 + seed % 50, 1 + seed % 7, seed);
      const Offsets offsets = assign_offsets(buffers);
      expect_apart(buffers, offsets);
      EXPECT_LE(offsets.end, 13 * least(buffers) / 10 + 64);
    }
  }
}

// More blocks than the planner compares with each other. Blocks of one size lose nothing, blocks of many sizes little.
TEST(Offsets, OfVeryMany) {
  const auto many = random_buffers(60000, 40000, 500, 40, 1), alike = random_buffers(60000, 40000, 500, 2, 2);
  for (const auto& buffers : {many, alike}) {
    const Offsets offsets = assign_offsets(buffers);
    expect_apart(buffers, offsets);
    EXPECT_LE(offsets.end, 13 * least(buffers) / 10);
  }
  // A step of a deep network: all activations live until their gradients are computed.
  std::vector<Lifetime> step;
  for (size_t i = 0; i < 20000; ++i) {
    step.push_back({256, i, 40000 - i});
    step.push_back({256, 40000 - i, 40001 - i});
  }
  const Offsets offsets = assign_offsets(step);
  expect_apart(step, offsets);
  EXPECT_LE(offsets.end, 11 * least(step) / 10);
}

}  // namespace
}  // namespace alloy::compiler
