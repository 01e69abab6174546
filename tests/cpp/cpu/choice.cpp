// Tests the choice of the way to compute a product, for described processors.
#include "cpu/product/choice.h"

#include <gtest/gtest.h>

#include <string>

namespace alloy::cpu {
namespace {

// Packed factors, or the transpose of the right factor.
ProductShape product(int64_t rows, int64_t inner, int64_t columns, bool b_transposed = false) {
  if (b_transposed) return {rows, inner, columns, inner, 1, 1, inner};
  return {rows, inner, columns, inner, 1, columns, 1};
}

Machine with_tiles() {
  Machine machine;
  machine.tiles = true;
  return machine;
}

std::string_view way(const ProductShape& shape, const Machine& machine = kMeasured, int64_t threads = 2) {
  return choose(product_ways(), shape, machine, threads).name;
}

TEST(Choice, FewRowsReadTheRightMatrixOnce) {
  EXPECT_EQ(way(product(1, 4096, 4096)), "thin");
  EXPECT_EQ(way(product(4, 4096, 4096)), "thin");
  EXPECT_NE(way(product(5, 4096, 4096)), "thin");
  EXPECT_EQ(way(product(8, 4096, 4096, true)), "thin");
  EXPECT_NE(way(product(9, 4096, 4096, true)), "thin");
  EXPECT_EQ(way(product(1, 8, 8)), "small") << "no larger than a call";
  ProductShape padded = product(1, 4096, 4096);
  padded.b_row += 16;
  EXPECT_NE(way(padded), "thin") << "its loops know packed matrices only";
}

TEST(Choice, SmallOnesAreFewMultiplications) {
  EXPECT_EQ(way(product(64, 64, 64)), "small") << "2^18";
  EXPECT_EQ(way(product(64, 64, 65)), "oneDNN");
  EXPECT_EQ(way(product(16, 1024, 16)), "small");
  EXPECT_EQ(way(product(16, 1025, 15)), "oneDNN") << "one running sum would lose digits";
  EXPECT_EQ(way(product(1 << 22, 1 << 21, 1 << 21)), "oneDNN") << "2^64 of them";
}

TEST(Choice, TilesTakeLargeOnesOfProcessorsThatHaveThem) {
  EXPECT_EQ(way(product(1024, 1024, 1024)), "oneDNN");
  EXPECT_EQ(way(product(1024, 1024, 1024), with_tiles()), "tiles");
  EXPECT_EQ(way(product(1024, 63, 1024), with_tiles()), "oneDNN") << "short sums";
  EXPECT_EQ(way(product(128, 1024, 64), with_tiles(), 1), "tiles");
  EXPECT_EQ(way(product(128, 1024, 64), with_tiles(), 2), "tiles") << "64 x 64 for each thread";
  EXPECT_EQ(way(product(128, 1024, 64), with_tiles(), 4), "oneDNN") << "32 x 64, of which splitting is most";
  EXPECT_EQ(way(product(2048, 1024, 1024), with_tiles(), 4), "tiles") << "512 x 1024 for each thread";
  EXPECT_EQ(way(product(1024, 784, 512), with_tiles(), 16), "oneDNN") << "tiles save less on many threads";
  EXPECT_EQ(way(product(64, 64, 64), with_tiles()), "small");
}

TEST(Choice, BlocksTakeLargeOnesWithoutAvx512) {
  Machine machine;
  machine.onednn_has_avx512 = false;
  EXPECT_EQ(way(product(128, 784, 512), machine), "blocks");
  EXPECT_EQ(way(product(128, 784, 512, true), machine), "oneDNN");
  EXPECT_EQ(way(product(64, 64, 64), machine), "small");
  EXPECT_EQ(way(product(128, 784, 512)), "oneDNN");
}

TEST(Choice, LargeOnesAreAskedForNoWayOfSmallOnes) {
  EXPECT_EQ(choose(large_product_ways(), product(2, 2, 2), kMeasured, 2).name, "oneDNN");
  EXPECT_EQ(choose(large_product_ways(), product(1, 4096, 4096), kMeasured, 2).name, "oneDNN");
  EXPECT_EQ(choose(large_product_ways(), product(1024, 1024, 1024), with_tiles(), 2).name, "tiles");
}

TEST(Choice, APackedProductPaysWhereItsResultLeavesTheCacheAndItsFactorDoesNot) {
  EXPECT_TRUE(packed_product_pays({1024, 8, 1024}));
  EXPECT_FALSE(packed_product_pays({16, 8, 1024})) << "the result stays in a cache";
  EXPECT_FALSE(packed_product_pays({1024, 8, 1 << 16})) << "the right matrix does not";
  EXPECT_FALSE(packed_product_pays({1024, 1 << 12, 1024})) << "long sums are faster otherwise";
}

}  // namespace
}  // namespace alloy::cpu
