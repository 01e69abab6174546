// Tests reading a processor's caches, from folders like Linux's.
#include "cpu/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace alloy::cpu {
namespace {

namespace fs = std::filesystem;

class Caches : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  struct Description {
    std::string level, type, size, ways;
  };
  void describe(int index, const Description& cache) {
    const fs::path at = folder_ / ("index" + std::to_string(index));
    fs::create_directories(at);
    std::ofstream(at / "level") << cache.level << "\n";
    std::ofstream(at / "type") << cache.type << "\n";
    if (!cache.size.empty()) std::ofstream(at / "size") << cache.size << "\n";
    if (!cache.ways.empty()) std::ofstream(at / "ways_of_associativity") << cache.ways << "\n";
  }
  Machine read() const { return machine_with_caches(folder_.c_str()); }

  fs::path folder_ = fs::temp_directory_path() / ("alloy_caches_" + std::to_string(getpid()));
};

void expect_cache(const Cache& cache, int64_t bytes, int64_t ways) {
  EXPECT_EQ(cache.bytes(), bytes);
  EXPECT_EQ(cache.ways, ways);
}

TEST_F(Caches, OfFirstAndSecondLevelAreRead) {
  describe(0, {"1", "Data", "32K", "8"});
  describe(1, {"1", "Instruction", "64K", "4"});
  describe(2, {"2", "Unified", "1M", "16"});
  describe(3, {"3", "Unified", "32M", "16"});
  expect_cache(read().l1, 32 << 10, 8);
  expect_cache(read().l2, 1 << 20, 16);
  EXPECT_FALSE(read().tiles);
}

TEST_F(Caches, ThatNobodyDescribesAreAsMeasured) {
  expect_cache(read().l1, 48 << 10, 12);
  expect_cache(read().l2, 2 << 20, 16);
  expect_cache(machine_with_caches("/nowhere").l2, 2 << 20, 16);
}

TEST_F(Caches, WithoutSizeOrWaysAreAsMeasured) {
  describe(0, {"1", "Data", "", "8"});
  describe(1, {"2", "Unified", "1M", "0"});  // the form for a fully associative cache
  expect_cache(read().l1, 48 << 10, 12);
  expect_cache(read().l2, 2 << 20, 16);
  describe(1, {"2", "Unified", "unknown", "16"});
  expect_cache(read().l2, 2 << 20, 16);
}

TEST(ThisMachine, HasCachesAndTheMeasuredRates) {
  for (const Cache& cache : {machine().l1, machine().l2}) {
    EXPECT_GT(cache.ways, 0);
    EXPECT_GT(cache.bytes(), 0);
  }
  EXPECT_EQ(machine().onednn_call_products, kMeasured.onednn_call_products);
  EXPECT_EQ(machine().tile_clock, kMeasured.tile_clock);
  EXPECT_EQ(&machine(), &machine());
}

}  // namespace
}  // namespace alloy::cpu
