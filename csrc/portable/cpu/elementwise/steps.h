// The steps of an elementwise tape: one SIMD function per elementwise op and element type, made from the rows
// of ops.def.
#pragma once

#include <cstddef>

#include "cpu/machine.h"
#include "ir/graph.h"

namespace alloy::cpu {

// Computes `count` elements, a multiple of kStepQuantum, of contiguous operands into contiguous results, each of
// which may be one of the operands.
using StepFunction = void (*)(const std::byte* const* operands, std::byte* const* results, size_t count);
inline constexpr size_t kStepQuantum = kWidestVector;
// Operands and results of the step that has most: adam with the greatest second moment.
inline constexpr size_t kMostStepOperands = 9, kMostStepResults = 4;

// The step of a cast, an elementwise op of the table or an optimizer; null where there is none for the type. The
// predicate of `select` must be given as bool, whatever it is; an optimizer's coefficients are read from their first
// elements.
StepFunction find_step(const ir::Op& op);

// Conversion between types but complex ones. Floats truncate toward zero, saturate, and NaN becomes 0; integers
// wrap; anything but 0 is true.
StepFunction find_cast(ir::DType from, ir::DType to);

}  // namespace alloy::cpu
