// Products with a left matrix of few rows, as for single samples: all they cost is to read the right matrix once.
#pragma once

#include <memory>

#include "cpu/kernel.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

// The most rows of the left matrix that there are loops for.
inline constexpr int64_t kMostThinRows = 8;

// Of up to kMostThinRows rows; the right matrix is packed row-major, itself or its transpose.
std::unique_ptr<Kernel> make_thin_matmul(const ProductShape& shape);

}  // namespace alloy::cpu
