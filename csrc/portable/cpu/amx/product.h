// Matrix products on AMX tiles, where machine().tiles says that the processor has them. README.md has the pictures.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/packed_product.h"
#include "cpu/product/shape.h"

namespace alloy::cpu::amx {

// By tiles. Where the result is not finite, `otherwise`, which computes the same, has the last word: parts of
// infinities, and of what is almost too large for a float32, are no numbers.
std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise);

// For PackedProduct; null where there are no tiles.
const PackedLoops* packed_loops();

}  // namespace alloy::cpu::amx
