// conv2d and its gradients on AMX tiles, for batches of images with many channels. The images of a batch are the lines
// of a factor. The result at one position is a sum over the positions of the source that its window sees: the source
// there times the weight in between. Nothing is multiplied by padding, and weights are not copied. If the split parts
// do not fit into the cache, images are computed in bands of rows; rows that two bands need are split twice. README.md
// has the pictures.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "ir/graph.h"

namespace alloy::cpu::amx {

// By tiles, where there are some and they are faster than `otherwise`, which computes the same and has the last word
// where the result is not finite.
std::unique_ptr<Kernel> make_convolution(const ir::Op& op, std::unique_ptr<Kernel> otherwise);

}  // namespace alloy::cpu::amx
