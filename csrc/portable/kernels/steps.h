// The steps of an elementwise tape: one SIMD function per elementwise op and element type, made from the rows
// of ops.def.
#pragma once

#include <cstddef>

#include "ir/op.h"

namespace alloy::portable {

// Computes `count` elements, a multiple of kStepQuantum, of contiguous operands into a contiguous result,
// which may be one of the operands.
using Step = void (*)(const std::byte* const* operands, std::byte* result, size_t count);
inline constexpr size_t kStepQuantum = 64;

// The step of an elementwise op of the table whose operands have that type; null where there is none. A
// predicate of `select` must be bool and is not what `dtype` means.
Step find_step(ir::OpCode code, ir::DType dtype);

// Conversion between computable types. Floats truncate toward zero, saturate, and NaN becomes 0; integers
// wrap; anything but 0 is true.
Step find_cast(ir::DType from, ir::DType to);

}  // namespace alloy::portable
