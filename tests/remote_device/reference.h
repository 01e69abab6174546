// What every op means, one element after the other: how the remote device computes. Shares only the formulas of the
// table's rows with the kernels of the CPU. float32 is computed in double precision and rounded once an op.
#pragma once

#include <cstddef>
#include <functional>

#include "ir/graph.h"

namespace alloy::remote {

// Computes the results from the operands, all packed row-major.
using Reference = std::function<void(const std::byte* const* operands, std::byte* const* results)>;

// Of an op of static types; null for one that has none.
Reference reference_of(const ir::Op& op);

// Parts of it.
Reference elementwise_reference(const ir::Op& op);  // elementwise.cpp: rows of the table, casts
Reference reduction_reference(
    const ir::Op& op);                         // elementwise.cpp: reductions, moments, argmax and argmin, reduce_like
Reference window_reference(const ir::Op& op);  // windows.cpp: convolutions and pooling
Reference recurrent_reference(const ir::Op& op);   // recurrent.cpp
Reference structured_reference(const ir::Op& op);  // structured.cpp: the others

}  // namespace alloy::remote
