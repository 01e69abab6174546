// Matrix products on AMX tiles, where machine().tiles says that the processor has them. README.md has the pictures.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/packed_product.h"
#include "cpu/product/shape.h"

namespace alloy::cpu::amx {

// A kernel on tiles. If its result is not finite, `otherwise`, which computes the same, computes it again: infinities
// and numbers close to the largest float32 cannot be split.
std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise);

// The loops of a PackedProduct on tiles; null if the processor has none.
const PackedLoops* packed_loops();

}  // namespace alloy::cpu::amx
