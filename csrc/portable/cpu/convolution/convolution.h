// Shared by the ways to compute a convolution.
#pragma once

#include "ir/graph.h"

namespace alloy::cpu {

// True for a convolution or a gradient of one with the usual layouts of weights.
bool is_convolution(const ir::Op& op);
// True if the images are smaller than the kernel.
bool has_small_images(const ir::Op& convolution);
// True if the convolution is best computed in its 16-bit type, where the processor has units for it.
bool convolves_halves(const ir::Op& convolution);

// The shapes of the forward convolution.
struct ConvolutionShapes {
  ir::Shape source, weights, result;

  explicit ConvolutionShapes(const ir::Op& convolution);
};

}  // namespace alloy::cpu
