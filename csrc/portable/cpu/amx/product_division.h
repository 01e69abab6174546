// The division of a matrix product: among threads, and within a thread into panels that are split at a time. No
// instructions: see product.cpp.
#pragma once

#include <cstdint>

#include "cpu/amx/panels.h"
#include "cpu/machine.h"
#include "cpu/product/shape.h"

namespace alloy::cpu::amx {

// The longest sums whose elements are split at a time: a panel then takes 96 KB of the second-level cache.
int64_t deepest_panel(const Machine& machine);

// The result's division into shares of `rows` x `columns`, one for each thread; the last ones may be smaller.
struct Grid {
  int64_t rows = 0, columns = 0, down = 0, across = 0;

  // Makes shares as square as possible, because every thread splits the lines that it needs.
  Grid(int64_t all_rows, int64_t all_columns, int64_t threads);
};

// How a thread computes its share of the result. It splits as many lines of the factor with fewer lines as a cache
// holds, and keeps them; the other factor passes by in groups of panels. Sums longer than `depth` are added up in the
// result.
struct ProductDivision {
  bool left_stays;
  int64_t depth, kept_lines, group_lines;

  ProductDivision(int64_t rows, int64_t columns, int64_t inner, const Machine& machine);

  int64_t panel_bytes() const { return depth / kDepth * kStepBytes; }
  int64_t kept_bytes() const { return kept_lines / kPanelLines * panel_bytes(); }
  int64_t group_bytes() const { return group_lines / kPanelLines * panel_bytes(); }
  int64_t scratch_bytes() const { return kept_bytes() + group_bytes() + 4 * kTileBytes; }
};

// True if tiles were faster than oneDNN: sums are not short, and splitting does not take most of the time.
bool product_pays(const ProductShape& shape, const Machine& machine, int64_t threads);

}  // namespace alloy::cpu::amx
