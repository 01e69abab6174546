// Differentiation in reverse.
#pragma once

#include <functional>
#include <vector>

#include "ir/rules/expr.h"

namespace alloy::ir {

// The gradients of `primary` (summed over its elements, weighted by `seed` where given) to each target, built from the
// gradient rules and named after the ops differentiated (names.h). A target that does not reach `primary` has a null
// Value. Throws Error where an op on the way has no gradient.
std::vector<Value> gradients(Graph& graph, Value primary, const std::vector<Value>& targets, Value seed = {});

// What a gradient of `results` to `operands` alone overlooks: the first floating variable, placeholder or argument of a
// region from which a derivative flows to a result in another way than through an operand; or a null Value.
Value overlooked(const std::vector<Value>& results, const std::vector<Value>& operands);

// What flows back to x from the incoming gradient `g` of f(x), of x's shape: zeros where x does not reach f(x). If f is
// linear, of x only the shape is used.
Expr adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f);
// The same, rounded once.
Expr rounded_adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f);

}  // namespace alloy::ir
