// Products of large matrices by vectors, for processors on which oneDNN's products are slow.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

// The right matrix must not be transposed.
std::unique_ptr<Kernel> make_blocked_matmul(const ProductShape& shape);

}  // namespace alloy::cpu
