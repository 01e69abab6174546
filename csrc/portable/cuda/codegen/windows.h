// Axes along which windows move, for convolutions and pooling.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/rules/windows.h"

namespace alloy::cuda {

// Defines `Moving`, an axis along which a window moves.
extern const char* const kWindows;

// The axis's numbers. Steps are those of the source, of the result and of the weights.
void append_axis(std::vector<int64_t>& numbers, const ir::Window& window, int64_t extent, int64_t positions,
                 int64_t source_step, int64_t result_step, int64_t tap_step);
// Axes of one element, so that there are as many as the text expects.
void append_still_axes(std::vector<int64_t>& numbers, int64_t count);

}  // namespace alloy::cuda
