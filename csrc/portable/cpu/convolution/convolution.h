// What is common to the ways to convolve.
#pragma once

#include "ir/graph.h"

namespace alloy::cpu {

// A convolution or a gradient of one, which no other op shares the layout of weights with.
bool is_convolution(const ir::Op& op);
// True if its images are smaller than its kernel.
bool has_small_images(const ir::Op& convolution);
// True if one of halves is best computed as such, where the processor has units for them.
bool convolves_halves(const ir::Op& convolution);

// The shapes of the forward convolution.
struct ConvolutionShapes {
  ir::Shape source, weights, result;

  explicit ConvolutionShapes(const ir::Op& convolution);
};

}  // namespace alloy::cpu
