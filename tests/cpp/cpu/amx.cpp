// Tests the parts of the kernels for AMX tiles that need no AMX instruction: addresses, divisions, pairs of matrices.
// Runs on every machine.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/amx/convolution_division.h"
#include "cpu/amx/convolution_geometry.h"
#include "cpu/amx/panels.h"
#include "cpu/amx/prefetcher.h"
#include "cpu/amx/product_division.h"
#include "cpu/kernel.h"
#include "graph_builder.h"
#include "reference/reference.h"

namespace alloy::cpu::amx {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Dims;
using ir::DType;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Shape;
using ir::Value;

// ---- panels ----

TEST(Panels, HoldEveryTilesPartsOnceAndNothingElse) {
  const int64_t tiles = 6, steps = 5;
  std::vector<int64_t> offsets;
  for (int64_t t = 0; t < tiles; ++t) {
    for (int64_t s = 0; s < steps; ++s) offsets.push_back(tile_offset(t, s, steps));
  }
  std::sort(offsets.begin(), offsets.end());
  for (size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(offsets[i], static_cast<int64_t>(i) * kSplitBytes);
  // A step of a panel is both of its tiles.
  EXPECT_EQ(tile_offset(1, 0, steps) - tile_offset(0, 0, steps), kSplitBytes);
  EXPECT_EQ(tile_offset(0, 1, steps) - tile_offset(0, 0, steps), kStepBytes);
}

TEST(Panels, RowsALargePowerOfTwoApartMeetInFewSets) {
  const Cache cache{int64_t{128} << 10, 16};
  EXPECT_EQ(rows_that_fit(64, cache), 2048 * 8) << "half of the lines of the cache";
  EXPECT_EQ(rows_that_fit(4096, cache), 32 * 8);
  EXPECT_EQ(rows_that_fit(3 * 4096, cache), 32 * 8);
  EXPECT_EQ(rows_that_fit(int64_t{128} << 10, cache), 8);
  EXPECT_EQ(rows_that_fit(int64_t{1} << 20, cache), 8);
}

// ---- the prefetcher ----

// The cache lines that it touches, and how often, in a number of turns.
std::map<const char*, int> touched(Prefetcher prefetcher, int64_t turns) {
  std::map<const char*, int> lines;
  for (int64_t i = 0; i < turns; ++i) {
    prefetcher.turn([&](const char* at) { ++lines[at]; });
  }
  return lines;
}

TEST(Prefetching, TouchesEachCacheLineOfTheBlockOnce) {
  std::vector<float> data(100 * 100);
  for (const bool along : {true, false}) {
    const Factor f{data.data(), 100, along ? 100 : 1, 100, along ? 1 : 100, true};
    const Prefetcher::Block block{3, 40, 16, 50};
    for (const int64_t turns : {1, 7, 1000}) {
      std::map<const char*, int> expected;
      const int64_t rows = along ? 37 : 50, row_bytes = (along ? 50 : 37) * 4;
      const auto* first = reinterpret_cast<const char*>(along ? &data[3 * 100 + 16] : &data[16 * 100 + 3]);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t b = 0; b < row_bytes; b += kCacheLine) expected[first + r * 400 + b] = 1;
      }
      EXPECT_EQ(touched({f, block, turns}, turns), expected) << along << " " << turns;
    }
  }
}

TEST(Prefetching, IsSharedAmongTheTurns) {
  std::vector<float> data(64 * 64);
  Prefetcher prefetcher({data.data(), 64, 64, 64, 1, true}, {0, 64, 0, 64}, 64);
  for (int turn = 0; turn < 70; ++turn) {
    int count = 0;
    prefetcher.turn([&](const char*) { ++count; });
    EXPECT_EQ(count, turn < 64 ? 4 : 0) << turn;
  }
}

TEST(Prefetching, OfNothingTouchesNothing) {
  const float data[4] = {};
  EXPECT_TRUE(touched({}, 3).empty());
  EXPECT_TRUE(touched({{data, 2, 2, 2, 1, true}, {2, 2, 0, 2}, 1}, 3).empty()) << "no lines";
  EXPECT_TRUE(touched({{data, 2, 1, 2, 2, true}, {0, 2, 0, -5}, 1}, 3).empty()) << "no depth";
}

// ---- products ----

TEST(ProductDivisions, GiveEveryThreadAPart) {
  for (const int64_t threads : {1, 2, 3, 4, 6, 8, 16, 56}) {
    for (const int64_t rows : {16, 100, 1024, 5000}) {
      for (const int64_t columns : {16, 33, 784, 4096}) {
        const Grid grid(rows, columns, threads);
        EXPECT_LE(grid.down * grid.across, threads);
        EXPECT_EQ(grid.rows % kLines, 0);
        EXPECT_EQ(grid.columns % kLines, 0);
        EXPECT_TRUE(grid.down * grid.rows >= rows && (grid.down - 1) * grid.rows < rows);
        EXPECT_TRUE(grid.across * grid.columns >= columns && (grid.across - 1) * grid.columns < columns);
      }
    }
  }
  const Grid square(1024, 1024, 4), wide(64, 4096, 4);
  EXPECT_EQ(square.rows, square.columns);
  EXPECT_TRUE(wide.down == 1 && wide.across == 4);
}

TEST(ProductDivisions, GiveThreadsScratchOfTheirOwn) {
  constexpr size_t kLine = 64, kSmall = 1000, kLarge = 300'001, kLarger = 2'500'000;
  for (const size_t bytes : {kSmall, kLarge, kLarger}) {
    const ScratchOfShares scratch(16, bytes);
    EXPECT_GE(scratch.of(1), bytes);
    EXPECT_EQ(scratch.of(1) % kLine, 0U);
    EXPECT_EQ(scratch.of(15) + bytes, scratch.bytes()) << "all of it is theirs";
  }
  EXPECT_EQ(ScratchOfShares(16, kLarge).of(3), ScratchOfShares(16, 2 * kLarge).of(3)) << "at the same place";
  EXPECT_LT(ScratchOfShares(16, kSmall).bytes(), 16 * (kSmall + kLine)) << "small scratch stays together";
  EXPECT_EQ(ScratchOfShares(0, kLarge).bytes(), 0U);
}

TEST(ProductDivisions, FitIntoTheSecondLevelCache) {
  Machine half;
  half.l2.way_bytes /= 2;
  for (const Machine& machine : {kMeasured, half}) {
    for (const int64_t rows : {16, 100, 1024, 5000}) {
      for (const int64_t columns : {16, 33, 784, 4096}) {
        for (const int64_t inner : {64, 500, 512, 513, 4096}) {
          const ProductDivision d(rows, columns, inner, machine);
          EXPECT_LE(d.scratch_bytes(), machine.l2.bytes()) << rows << " " << columns << " " << inner;
          EXPECT_EQ(d.left_stays, rows <= columns);
          EXPECT_TRUE(d.depth % kDepth == 0 && d.kept_lines % kPanelLines == 0 && d.group_lines % kPanelLines == 0);
          EXPECT_LE(d.depth, deepest_panel(machine));
        }
      }
    }
  }
  EXPECT_EQ(deepest_panel(kMeasured), 512);
  EXPECT_EQ(deepest_panel(half), 256);
}

// ---- convolutions ----

struct Case {
  int64_t images, height, width, in, out, size, stride, dilation;
  std::string padding;

  std::string name() const {
    return std::to_string(images) + " of " + std::to_string(height) + "x" + std::to_string(width) + ", kernel " +
           std::to_string(size) + ", stride " + std::to_string(stride) + ", dilation " + std::to_string(dilation) +
           ", " + padding;
  }
};

const Case kCases[] = {{2, 5, 6, 3, 4, 3, 1, 1, "same"},  {2, 5, 6, 3, 4, 3, 1, 1, "valid"},
                       {1, 7, 7, 2, 3, 3, 2, 1, "same"},  {2, 9, 8, 2, 2, 2, 3, 1, "valid"},
                       {1, 8, 9, 2, 2, 3, 1, 2, "same"},  {1, 1, 1, 3, 3, 3, 1, 1, "same"},
                       {2, 6, 5, 2, 3, 1, 2, 1, "valid"}, {1, 4, 4, 2, 2, 5, 1, 1, "same"}};

// A forward convolution with its two gradients.
struct Convolution {
  Graph graph;
  Shape source, weights, result;
  const Op *forward, *data_gradient, *weights_gradient;

  explicit Convolution(const Case& c)
      : source{c.images, c.height, c.width, c.in}, weights{c.size, c.size, c.in, c.out} {
    Attributes attributes = test::convolution(c.padding);
    attributes.set(Attr::kStrides, Dims{c.stride, c.stride});
    attributes.set(Attr::kDilations, Dims{c.dilation, c.dilation});
    const Value x = test::placeholder(graph, test::f32(source)), w = test::placeholder(graph, test::f32(weights));
    forward = graph.add(OpCode::conv2d, {x, w}, attributes);
    result = forward->results[0].shape;
    const Value y = test::placeholder(graph, forward->results[0]);
    data_gradient = graph.add(OpCode::conv2d_data_gradient, {y, w, x}, attributes);
    weights_gradient = graph.add(OpCode::conv2d_weights_gradient, {y, x, w}, attributes);
  }

  std::vector<const Op*> ops() const { return {forward, data_gradient, weights_gradient}; }
  TiledConvolution tiled(const Op& op) const { return {op, source, weights, result}; }
};

// Small integers, so that sums are exact.
std::vector<float> sample(const Shape& shape, int seed) {
  std::vector<float> values(shape.element_count());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>((i * 7 + static_cast<size_t>(seed)) % 11) - 5);
  }
  return values;
}

std::vector<float> by_reference(const Op& op, const std::vector<float>& first, const std::vector<float>& second) {
  std::vector<reference::Array> operands;
  for (const Value& v : op.operands) operands.emplace_back(v.shape().dims());
  operands[0].values.assign(first.begin(), first.end());
  operands[1].values.assign(second.begin(), second.end());
  const std::vector<double> values = reference::compute(op, operands)[0].values;
  return {values.begin(), values.end()};
}

// The result of the factors' slots, band by band.
std::vector<float> by_slots(const TiledConvolution& c, const std::vector<float>& left, const std::vector<float>& right,
                            size_t results, const Bands& bands) {
  std::vector<float> y(results, 0);
  const auto multiply = [&](const Factor& a, const Factor& b, float* to) {
    ASSERT_EQ(a.inner, b.inner);
    for (int64_t i = 0; i < a.lines * b.lines * a.inner; ++i) {
      const int64_t k = i % a.inner, column = i / a.inner % b.lines, row = i / a.inner / b.lines;
      to[row * c.line_stride + column] +=
          a.data[row * a.line_stride + k * a.inner_stride] * b.data[column * b.line_stride + k * b.inner_stride];
    }
  };
  for (const auto& group : bands.of_group) {
    for (const Band& band : group) {
      for (int64_t i = band.first; i < band.end; ++i) {
        for (size_t j = 0; j < c.columns.meetings.size(); ++j) {
          float* const to = y.data() + i * c.row_stride + static_cast<int64_t>(j) * c.column_stride;
          for (const auto& a : c.meetings(band, i)) {
            EXPECT_TRUE(a.left >= band.left && a.left < band.left_end);
            EXPECT_TRUE(a.right >= band.right && a.right < band.right_end);
            for (const auto& b : c.columns.meetings[j]) {
              multiply(c.left.slot(left.data(), c.rows.left[a.left], c.columns.left[b.left], true),
                       c.right.slot(right.data(), c.rows.right[a.right], c.columns.right[b.right], false), to);
            }
          }
        }
      }
    }
  }
  return y;
}

TEST(ConvolutionGeometry, SlotsThatMeetGiveTheConvolutionHoweverBandsDivideIt) {
  for (const Case& k : kCases) {
    const Convolution c(k);
    const std::vector<float> x = sample(c.source, 1), w = sample(c.weights, 2), y = sample(c.result, 3);
    for (const Op* op : c.ops()) {
      const TiledConvolution tiled = c.tiled(*op);
      EXPECT_EQ(tiled.swapped, op == c.weights_gradient) << "the gradient is that op's first operand";
      std::vector<float> first = op == c.forward ? x : y, second = op == c.weights_gradient ? x : w;
      const std::vector<float> expected = by_reference(*op, first, second);
      if (tiled.swapped) std::swap(first, second);
      for (const int64_t groups : {1, 2, 3}) {
        for (const int64_t height : {1, 2, 100}) {
          const Bands bands(tiled, groups, height);
          EXPECT_EQ(by_slots(tiled, first, second, expected.size(), bands), expected)
              << k.name() << ", " << op->info().name << ", " << groups << " groups of bands of " << height;
        }
      }
    }
  }
}

TEST(ConvolutionGeometry, BandsTellTheMostThatAGroupHas) {
  const Convolution c({2, 9, 9, 2, 2, 3, 1, 1, "same"});
  const TiledConvolution tiled = c.tiled(*c.forward);
  const Bands whole(tiled, 1, 9), thirds(tiled, 1, 3), groups(tiled, 3, 3);
  EXPECT_EQ(whole.left_at_once, 9);
  EXPECT_EQ(whole.left_rows, 9);
  EXPECT_EQ(thirds.left_at_once, 5) << "three rows and a neighbour on each side";
  EXPECT_EQ(thirds.left_rows, 4 + 5 + 4) << "neighbours are split twice";
  EXPECT_EQ(groups.left_rows, 5);
  EXPECT_EQ(groups.result_rows, 3);
  EXPECT_EQ(whole.meetings, 9 * 3 - 2) << "padding meets nobody";
  EXPECT_EQ(thirds.meetings, whole.meetings);
  EXPECT_EQ(tiled.columns.most_meetings(), 3);
  EXPECT_EQ(tiled.columns.results_met(), 9);
}

TEST(ConvolutionDivisions, FitIntoTheCacheAndGiveEveryThreadAShare) {
  Machine half;
  half.l2.way_bytes /= 2;
  for (const Case& k : {Case{64, 6, 6, 64, 64, 3, 1, 1, "same"}, Case{64, 32, 32, 32, 64, 3, 1, 1, "same"},
                        Case{64, 14, 14, 128, 256, 3, 2, 1, "valid"}, Case{128, 2, 2, 256, 256, 3, 1, 1, "same"}}) {
    const Convolution c(k);
    for (const Op* op : c.ops()) {
      const TiledConvolution tiled = c.tiled(*op);
      for (const int64_t threads : {1, 2, 6, 16}) {
        for (const Machine& machine : {kMeasured, half}) {
          const auto plan = best_division(tiled, machine, threads);
          ASSERT_TRUE(plan) << k.name();
          const ConvolutionDivision& d = plan->division;
          const Bands bands(tiled, d.groups, plan->height);
          EXPECT_LE(d.left_bytes(tiled, bands) + d.right_bytes(tiled, bands), machine.l2.bytes() * 7 / 8);
          EXPECT_LE(d.shares(), threads);
          EXPECT_TRUE(d.down * d.lines >= tiled.left.lines && (d.down - 1) * d.lines < tiled.left.lines);
          EXPECT_TRUE(d.across * d.columns >= tiled.right.lines && (d.across - 1) * d.columns < tiled.right.lines);
          EXPECT_TRUE(d.split_lines % kPanelLines == 0 && d.depth % kDepth == 0 && d.depth > 0);
        }
        EXPECT_LE(best_division(tiled, kMeasured, threads)->cycles, best_division(tiled, half, threads)->cycles);
      }
    }
  }
}

TEST(ConvolutionDivisions, ThereIsNoneWhereNothingFits) {
  const Convolution c({64, 32, 32, 64, 64, 3, 1, 1, "same"});
  Machine tiny;
  tiny.l2 = {1024, 4};
  EXPECT_FALSE(best_division(c.tiled(*c.forward), tiny, 2));
}

TEST(ConvolutionDivisions, PayWhereThereIsEnoughToMultiply) {
  const auto pays = [](const Case& k) {
    const Convolution c(k);
    const TiledConvolution tiled = c.tiled(*c.forward);
    return convolution_pays(tiled, best_division(tiled, kMeasured, 2)->cycles, kMeasured, 2);
  };
  EXPECT_TRUE(pays({64, 6, 6, 64, 64, 3, 1, 1, "same"}));
  EXPECT_FALSE(pays({1, 32, 32, 16, 16, 3, 1, 1, "same"})) << "one image fills no tile";
  EXPECT_FALSE(pays({16, 2, 2, 16, 16, 3, 1, 1, "same"})) << "less than a call";
}

}  // namespace
}  // namespace alloy::cpu::amx
