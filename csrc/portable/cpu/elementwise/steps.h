// The steps of a chain: one SIMD function for each elementwise op and element type, generated from the rows of ops.def.
#pragma once

#include <cstddef>

#include "cpu/machine.h"
#include "ir/graph.h"

namespace alloy::cpu {

// Computes `count` elements, a multiple of kStepQuantum. Operands and results are contiguous; a result may be one of
// the operands.
using StepFunction = void (*)(const std::byte* const* operands, std::byte* const* results, size_t count);
inline constexpr size_t kStepQuantum = kWidestVector;
// The most operands and results of a step: those of adam with the greatest second moment.
inline constexpr size_t kMostStepOperands = 9, kMostStepResults = 4;

// The step of a cast, an elementwise op of the table or an optimizer; null if there is none for the type. The predicate
// of `select` must be converted to bool. Of an optimizer's coefficients only the first element is read.
StepFunction find_step(const ir::Op& op);

// Converts between types that are not complex. Floats truncate toward zero and saturate; NaN becomes 0. Integers wrap.
// As bool, anything but 0 is true.
StepFunction find_cast(ir::DType from, ir::DType to);

// Writes `rows` rows of `count` elements each; all elements of a row are one of the `rows` elements of `from`. `width`
// is an element's size. Up to a vector of further elements may be written after the last row.
void spread(size_t width, const std::byte* from, size_t rows, size_t count, std::byte* to);

}  // namespace alloy::cpu
