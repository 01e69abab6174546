// conv2d and its gradients on AMX tiles, for batches of images with many channels. The images of a batch are the lines
// of a factor: at one position of the result they are the sum, over the positions of the source that its window sees,
// of what stands there times the weights between. Nothing is multiplied by padding, and weights stay as they are. What
// does not fit into a cache, split into parts, goes through it in bands of the images' rows, of which neighbours are
// split twice. README.md has the pictures.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "ir/graph.h"

namespace alloy::cpu::amx {

// By tiles, where there are some and they are faster than `otherwise`, which computes the same and has the last word
// where the result is not finite. The shapes are those of the forward convolution.
std::unique_ptr<Kernel> make_convolution(const ir::Op& op, const ir::Shape& source, const ir::Shape& weights,
                                         const ir::Shape& result, std::unique_ptr<Kernel> otherwise);

}  // namespace alloy::cpu::amx
