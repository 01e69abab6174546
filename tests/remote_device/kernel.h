// Computes the ops of the remote device, by the tests' reference; elements in its memory are rounded once for each op.
#pragma once

#include <cstddef>
#include <functional>

#include "ir/graph.h"

namespace alloy::remote {

// Computes the results from the operands, all packed row-major.
using Computation = std::function<void(const std::byte* const* operands, std::byte* const* results)>;

// A kernel for an op of static types, which must outlive it; null if the reference does not support the op.
Computation computation_of(const ir::Op& op);

}  // namespace alloy::remote
