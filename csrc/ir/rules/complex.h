// Arithmetic on complex numbers. A graph holds only real arithmetic, on the parts along the last axis of view_as_real.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

// Adds an op and returns the op with the result. For complex operands, it adds ops on the parts and returns the last of
// these; real operands of such arithmetic count as complex. Ops that are not defined for complex numbers, such as an
// order, are added unchanged, and their own rules refuse them.
Op* add_op(Graph& graph, OpCode code, std::vector<Value> operands, Attributes attributes = {});

inline bool is_complex(Expr x) { return kind(x.value().dtype()) == DTypeKind::kComplex; }

// The real and the imaginary part, each with a last axis of length 1.
struct Parts {
  Expr re, im;
};
Parts parts_of(Expr x);
// The complex numbers with these parts, after broadcasting them to one shape.
Expr joined(const Parts& parts);
// Returns x if it is complex, else complex numbers with imaginary parts of 0.
Expr as_complex(Expr x);

}  // namespace alloy::ir
