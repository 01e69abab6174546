// The rules of ops, and what they share. A family's file, ops/NAME.cpp, holds those of its ops side by side: the types
// of the results, the gradient, the cost. An op of ops.def that lacks one does not link. A dimension that is not known
// yet never makes an op illegal.
#pragma once

#include <string_view>
#include <vector>

#include "ir/rules/cost.h"
#include "ir/rules/expr.h"

namespace alloy::ir {

using Types = std::vector<Type>;

// One op being differentiated: what flows in, and where the operands' gradients go.
class GradientRule {
 public:
  GradientRule(Graph& graph, const Op& op, std::vector<Expr> incoming, std::vector<bool> wanted)
      : graph_(graph),
        op_(op),
        incoming_(std::move(incoming)),
        wanted_(std::move(wanted)),
        outgoing_(op.operands.size()) {}

  const Op& op() const { return op_; }
  Expr g(size_t i = 0) const { return incoming_[i]; }
  Expr x(size_t i = 0) const { return Expr(graph_, op_.operands[i]); }
  Expr y(size_t i = 0) const { return Expr(graph_, op_.result(static_cast<uint32_t>(i))); }
  bool wants(size_t i) const { return wanted_[i]; }
  // A gradient of an operand in the operand's shape or in one that broadcasting made of it; none is no gradient.
  void give(size_t i, Expr gradient) {
    if (gradient) outgoing_[i] = reduce_like(gradient, x(i));
  }
  const std::vector<Expr>& outgoing() const { return outgoing_; }

 private:
  Graph& graph_;
  const Op& op_;
  std::vector<Expr> incoming_;
  std::vector<bool> wanted_;
  std::vector<Expr> outgoing_;
};

// ---- the rules: of every row its gradient, which may be none; of structured ops all, but that of elements only where
// the row says so ----

#define ALLOY_ROW(name) void gradient_##name(GradientRule& r);
#include "ir/ops.def"
#define ALLOY_OP(name, ...)         \
  Types infer_##name(const Op& op); \
  Cost cost_##name(const Op& op);   \
  std::optional<Elements> elements_##name(const Op& op, std::span<const std::optional<Elements>> operands);
#include "ir/ops.def"

Types infer_elementwise(const Op& op);
Types infer_comparison(const Op& op);
Types infer_ternary(const Op& op);
Types infer_reduction(const Op& op);
Types infer_arg_reduction(const Op& op);
Cost cost_elementwise(const Op& op);
Cost cost_reduction(const Op& op);

// ---- what they share ----

inline const Type& operand(const Op& op, size_t i) { return op.operands[i].type(); }

// For messages.
std::string text(const Type& type);
std::string text(const Shape& shape);
std::string text(const Dims& numbers);

// Throws Error where an operand is not of the row's types.
void require_types(const Op& op);
// The same of a structured op that computes with any numbers.
void require_numbers(const Op& op);
// The element type of all operands from `first` on; throws Error where they differ.
DType same_dtype(const Op& op, size_t first = 0);
// The axis counted from the front.
int64_t axis_of(const Op& op, int64_t axis, int64_t rank);
// The axes counted from the front, each once, ascending.
Dims axes_of(const Op& op, int64_t rank);
// The shape that an attribute gives: unknown dimensions are legal, other negative ones are not.
const Shape& given_shape(const Op& op);

uint64_t element_count(const Value& v);
// Of an op that does this arithmetic, reads every operand whose elements count, and writes every result.
Cost cost_of(const Op& op, uint64_t flops);

}  // namespace alloy::ir
