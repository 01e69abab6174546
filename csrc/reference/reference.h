// The definition of every op, element by element, by csrc/ir/README.md. The tests compare kernels and compiled programs
// with it, and their second device (tests/remote_device) computes by it. It shares with the tested code only types,
// dimensions, attributes and the formulas of the table's rows, which tests/python/cases.py compares with NumPy. Floats
// of any width are doubles here, and integers wrap around.
#pragma once

#include "ir/graph.h"
#include "reference/array.h"
#include "reference/elements.h"

namespace alloy::reference {

// The operands or the results of an op. An operand whose shape alone is read has no elements.
template <class N>
using Arrays = std::vector<Numbers<N>>;

// Computes an op of static types.
template <class N>
using Function = Arrays<N> (*)(const Op& op, const Arrays<N>& operands);

// The function for ops with this code and numbers N (double, int32_t, int64_t, uint64_t); null if there is none.
template <class N>
Function<N> function_of(OpCode code);

// The functions of a family, one family in each file.
template <class N>
Function<N> elementwise(OpCode code);
template <class N>
Function<N> reduction(OpCode code);
template <class N>
Function<N> moving(OpCode code);
template <class N>
Function<N> order(OpCode code);
Function<double> matrices(OpCode code);
Function<double> softmax(OpCode code);
Function<double> windows(OpCode code);
Function<double> recurrent(OpCode code);
Function<double> optimizer(OpCode code);
Function<double> random(OpCode code);

// The op's axis, counted from the first.
inline int64_t axis_of(const Op& op) {
  return *normalize_axis(op.attributes.integer(Attr::kAxis), op.operands[0].shape().rank());
}

// True if the op only moves elements and reads only indices: then integers with the elements' bits are exact.
bool only_moves(const Op& op);

// The type with whose numbers the op is computed.
DType computed_by(const Op& op);

// The operand as numbers N. A predicate has its own type: nonzero becomes 1.
template <class N, class From>
N operand_number(const Op& op, size_t operand, From number) {
  return op.code == OpCode::select && operand == 0 ? number != 0 : static_cast<N>(number);
}

// True if compute() supports the op.
bool has_function(const Op& op);

// The results of an op of static types, as doubles: integers are exact up to 2^53, floats are not rounded.
std::vector<Array> compute(const Op& op, const std::vector<Array>& operands);

}  // namespace alloy::reference
