// Panels: pieces of a product's factors, arranged for AMX tiles. Sizes and addresses only, no instructions; README.md
// has the pictures.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/machine.h"
#include "ir/rounding.h"

namespace alloy::cpu::amx {

using ir::divide_up;
using ir::round_up;

// A tile has 16 rows of 64 bytes. A left factor's tile holds 16 lines (rows of the result) of 32 bfloat16s. A right
// factor's tile has a row for each of 16 pairs of elements, and in it the pairs of 16 lines (columns of the result).
// The elements i and i + 16 of a line form a pair; any pairing is right if both factors use it.
constexpr int64_t kLines = 16, kDepth = 32, kTileBytes = 1024, kParts = 3;
// The products of two tiles of 16 lines of each factor are four sums, which take half of the registers. A panel holds
// these 32 lines, to the depth that is split at a time: the three parts of the first 16 lines, the parts of the other
// 16 lines, then the next step of depth.
constexpr int64_t kPanelLines = 2 * kLines, kSplitBytes = kParts * kTileBytes, kStepBytes = 2 * kSplitBytes;
// Bytes of an element that is split.
constexpr int64_t kElementBytes = 2 * kParts;

// One side of a product. `left`: its lines are rows of the result.
struct Factor {
  const float* data;
  int64_t lines, line_stride, inner, inner_stride;
  bool left;
};

// Lines [line, end) of a factor, from element `depth` on, `steps` tiles deep.
struct PanelRange {
  int64_t line, end, depth, steps;

  int64_t lines() const { return end - line; }
  int64_t tiles() const { return divide_up(lines(), kLines); }
  int64_t panels() const { return divide_up(lines(), kPanelLines); }
};

// The offset of a tile in split panels: the t-th 16 lines, step s.
constexpr int64_t tile_offset(int64_t t, int64_t s, int64_t steps) {
  return (t / 2 * steps + s) * kStepBytes + t % 2 * kSplitBytes;
}

// The number of rows at this distance that a second-level cache holds besides other data. If the distance is a large
// power of two, all rows fall into a few sets of the cache.
constexpr int64_t rows_that_fit(int64_t stride_bytes, const Cache& cache) {
  const int64_t power_of_two = std::min(stride_bytes & -stride_bytes, cache.way_bytes);
  return cache.way_bytes / power_of_two * (cache.ways / 2);
}

}  // namespace alloy::cpu::amx
