// How the remote device computes an op: by the tests' reference, with the elements in its memory rounded once an op.
#pragma once

#include <cstddef>
#include <functional>

#include "ir/graph.h"

namespace alloy::remote {

// Computes the results from the operands, all packed row-major.
using Computation = std::function<void(const std::byte* const* operands, std::byte* const* results)>;

// Of an op of static types, which must outlive it; null for one that the reference does not know.
Computation computation_of(const ir::Op& op);

}  // namespace alloy::remote
