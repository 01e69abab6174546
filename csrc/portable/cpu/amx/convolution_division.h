// The division of a convolution on tiles: among threads, and within a thread into pieces that are split at a time. The
// division with the least estimated time is taken. No instructions: see convolution.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/amx/convolution_geometry.h"
#include "cpu/machine.h"

namespace alloy::cpu::amx {

// Each thread computes a share of the result: some lines of each factor, and some bands.
struct ConvolutionDivision {
  int64_t down = 1, across = 1, groups = 1;  // shares along the left lines, the right lines, and the bands
  int64_t lines = 0, columns = 0;            // left and right lines of a share
  int64_t split_lines = 0, depth = 0;        // left lines that are split at a time, and to which depth

  int64_t shares() const { return down * across * groups; }
  int64_t steps() const { return depth / kDepth; }
  // Bytes of a split slot, and of all slots that are split at a time.
  int64_t left_slot() const { return split_lines / kPanelLines * steps() * kStepBytes; }
  int64_t right_slot() const { return steps() * kStepBytes; }
  int64_t left_bytes(const TiledConvolution& c, const Bands& bands) const {
    return bands.left_at_once * std::ssize(c.columns.left) * left_slot();
  }
  int64_t right_bytes(const TiledConvolution& c, const Bands& bands) const {
    return bands.right_at_once * std::ssize(c.columns.right) * right_slot();
  }
};

struct PlannedDivision {
  ConvolutionDivision division;
  int64_t height;  // rows of a band
  double cycles;   // estimated
};

// The fastest division; none if nothing fits into the second-level cache.
std::optional<PlannedDivision> best_division(const TiledConvolution& convolution, const Machine& machine,
                                             int64_t threads);

// True if a convolution that takes `cycles` is faster than oneDNN's.
bool convolution_pays(const TiledConvolution& convolution, double cycles, const Machine& machine, int64_t threads);

}  // namespace alloy::cpu::amx
