// conv2d and its gradients on AMX tiles, for batches of images with many channels. The lines of a factor are the images
// of a batch. The result at one position is a sum over the positions of the source in its window: the source there
// times the kernel's tap. Padding is not multiplied, and weights are not copied. If the split slots do not fit into the
// cache, images are computed in bands of rows; a row that two bands need is split twice. README.md has the pictures.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "ir/graph.h"

namespace alloy::cpu::amx {

// A kernel on tiles, if the processor has them and they are faster than `otherwise`; else `otherwise`. Both compute the
// same; if the result of the tiles is not finite, `otherwise` computes it again.
std::unique_ptr<Kernel> make_convolution(const ir::Op& op, std::unique_ptr<Kernel> otherwise);

}  // namespace alloy::cpu::amx
