// Tests lists of integers against std::vector: short lists inside the object, long ones, copies and moves of both.
#include "ir/dims.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace alloy::ir {
namespace {

using Vector = std::vector<int64_t>;

Vector as_vector(const Dims& dims) { return {dims.begin(), dims.end()}; }

TEST(Dims, AreMadeOfListsCountsAndRanges) {
  EXPECT_EQ(as_vector(Dims{}), Vector{});
  EXPECT_EQ(as_vector(Dims{3, 1}), (Vector{3, 1}));
  EXPECT_EQ(as_vector(Dims(3, 1)), (Vector{1, 1, 1}));
  EXPECT_EQ(as_vector(Dims(9)), Vector(9));
  const Vector many{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(as_vector(Dims(many.begin(), many.end())), many);
}

TEST(Dims, AreCopiedAndMoved) {
  for (const int64_t count : {0, 1, 6, 7, 40}) {
    Dims some(count, 5);
    const Vector held = as_vector(some);
    Dims copy = some;
    EXPECT_EQ(copy, some);
    Dims moved = std::move(copy);
    EXPECT_EQ(as_vector(moved), held);
    EXPECT_TRUE(copy.empty());  // NOLINT: a moved-from list is empty
    copy.push_back(1);
    EXPECT_EQ(as_vector(copy), Vector{1});
    for (const int64_t other : {0, 6, 7, 40}) {
      Dims target(other, 1);
      target = moved;
      EXPECT_EQ(target, moved);
      Dims second(other, 1);
      second = Dims(moved);
      EXPECT_EQ(second, moved);
    }
    Dims& self = moved;
    moved = self;
    EXPECT_EQ(as_vector(moved), held);
  }
}

TEST(Dims, AreOrderedByTheirElements) {
  EXPECT_LT((Dims{1, 2}), (Dims{1, 2, 0}));
  EXPECT_LT((Dims{1, 2, 9}), (Dims{1, 3}));
  EXPECT_NE((Dims{1, 2}), (Dims{2, 1}));
}

TEST(Dims, ChangeAsVectorsDo) {
  std::mt19937 random(0);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  for (int round = 0; round < 200; ++round) {
    Dims dims;
    Vector vector;
    for (int step = 0; step < 30; ++step) {
      const int64_t value = below(100), at = below(dims.size() + 1);
      const int64_t from = below(at + 1);
      switch (below(6)) {
        case 0: dims.push_back(value), vector.push_back(value); break;
        case 1: dims.insert(dims.begin() + at, value), vector.insert(vector.begin() + at, value); break;
        case 2: {
          const Vector part(vector.begin() + from, vector.begin() + at);
          dims.insert(dims.begin() + at, dims.begin() + from, dims.begin() + at);  // a range of the list itself
          vector.insert(vector.begin() + at, part.begin(), part.end());
          break;
        }
        case 3:
          dims.erase(dims.begin() + from, dims.begin() + at), vector.erase(vector.begin() + from, vector.begin() + at);
          break;
        case 4: dims.resize(at, value), vector.resize(static_cast<size_t>(at), value); break;
        case 5:
          if (!dims.empty()) dims.pop_back(), vector.pop_back();
      }
      ASSERT_EQ(as_vector(dims), vector);
      ASSERT_EQ(dims.size(), static_cast<int64_t>(vector.size()));
    }
  }
}

}  // namespace
}  // namespace alloy::ir
