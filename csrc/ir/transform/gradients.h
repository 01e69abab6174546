// Differentiation in reverse.
#pragma once

#include <functional>
#include <vector>

#include "ir/rules/expr.h"

namespace alloy::ir {

// The gradients of the sum of `primary`'s elements, weighted by `seed` if given, with respect to each target; a null
// Value for a target that `primary` does not depend on. The ops that compute them are named after the differentiated
// ops (names.h). Throws Error if an op has no gradient.
std::vector<Value> gradients(Graph& graph, Value primary, const std::vector<Value>& targets, Value seed = {});

// A floating variable, placeholder or region argument that `results` depend on, but not through `operands`: a gradient
// with respect to `operands` alone would miss it. A null Value if there is none.
Value overlooked(const std::vector<Value>& results, const std::vector<Value>& operands);

// The gradient of x from the incoming gradient `g` of f(x), in x's shape; zeros if f(x) does not depend on x. If f is
// linear, only the shape of x is used.
Expr adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f);
// The same, rounded once (rounded_once).
Expr rounded_adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f);

}  // namespace alloy::ir
