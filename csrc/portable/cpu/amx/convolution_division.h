// How a convolution on tiles is divided: into parts, one a thread, and each part into what is split at a time. The
// division that is estimated to be the fastest is taken. No instructions: see convolution.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/amx/convolution_geometry.h"
#include "cpu/machine.h"

namespace alloy::cpu::amx {

// Each thread has a share of the lines of each factor and of the bands.
struct ConvolutionDivision {
  int64_t down = 1, across = 1, groups = 1;  // parts along the left factor's lines, the right one's, and the bands
  int64_t lines = 0, columns = 0;            // of a part
  int64_t split_lines = 0, depth = 0;        // left lines that are split together, and how deep

  int64_t parts() const { return down * across * groups; }
  int64_t steps() const { return depth / kDepth; }
  // Bytes of a slot, and of all that are split together.
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
  int64_t height;  // of its bands
  double cycles;   // as estimated
};

// The fastest division; none where nothing fits into the second-level cache.
std::optional<PlannedDivision> best_division(const TiledConvolution& convolution, const Machine& machine,
                                             int64_t threads);

// True if a convolution in so many cycles is faster than oneDNN's.
bool convolution_pays(const TiledConvolution& convolution, double cycles, const Machine& machine, int64_t threads);

}  // namespace alloy::cpu::amx
