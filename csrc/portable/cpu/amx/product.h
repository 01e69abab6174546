// Matrix products on AMX tiles, where the processor has them. Tiles multiply bfloat16s, many at a time, and add in
// float32. A float32 is the sum of three bfloat16s, exactly; of the nine products of parts those six are added that a
// float32 can show (Henry, Tang and Heinecke, 2019, "Leveraging the bfloat16 artificial intelligence datatype for
// higher-precision computations"). Errors are no larger than those of float32 arithmetic: tests/cpp/cpu/product.cpp
// (Products) compares both with float64.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/matmul.h"
#include "cpu/product/packed_product.h"

namespace alloy::cpu {

// By tiles, where there are some and they are faster than `otherwise`, which computes the same. Where the result is not
// finite, `otherwise` has the last word: parts of infinities, and of what is almost too large for a float32, are no
// numbers.
std::unique_ptr<Kernel> make_amx_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise);

// For PackedProduct; null where there are no tiles.
const PackedLoops* amx_packed_loops();

}  // namespace alloy::cpu
