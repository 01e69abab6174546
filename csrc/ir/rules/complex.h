// Arithmetic with complex numbers. Graphs hold none: it is that of real numbers, of the parts along the last axis that
// view_as_real gives.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

// Adds what the op means of its operands and returns the op with the result: the op itself or, where an operand is
// complex, the last of those that compute the parts of its result. In arithmetic with complex numbers real ones are
// complex. What has no such meaning, an order for instance, is added as it is, so that its own rule refuses it.
Op* add_op(Graph& graph, OpCode code, std::vector<Value> operands, Attributes attributes = {});

inline bool is_complex(Expr x) { return kind(x.value().dtype()) == DTypeKind::kComplex; }

// The real and the imaginary part, with a last axis of 1.
struct Parts {
  Expr re, im;
};
Parts parts_of(Expr x);
// The complex numbers with these parts, which broadcast.
Expr joined(const Parts& parts);
// x itself if it is complex, else with imaginary parts of 0.
Expr as_complex(Expr x);

}  // namespace alloy::ir
