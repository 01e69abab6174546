// The rules of ops, and functions that they share. The file of a family, ops/NAME.cpp, holds the rules of its ops: the
// types of the results, the gradient, the cost. An op of ops.def without one of them does not link. An unknown
// dimension never makes an op illegal.
#pragma once

#include <string_view>
#include <vector>

#include "ir/rules/cost.h"
#include "ir/rules/expr.h"

namespace alloy::ir {

using Types = std::vector<Type>;

// One op being differentiated: the incoming gradients, and the gradients that its rule gives to the operands.
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
  // Gives an operand's gradient, in the operand's shape or in a shape broadcast from it; an empty gradient gives none.
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

// ---- the rules: every row has a gradient, which may be empty; structured ops have the others, too, but elements only
// if the row says so ----

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

// ---- shared functions ----

inline const Type& operand(const Op& op, size_t i) { return op.operands[i].type(); }

// The text for messages.
std::string text(const Type& type);
std::string text(const Shape& shape);
std::string text(const Dims& numbers);

// Throws Error if an operand has a type that the row does not accept.
void require_types(const Op& op);
// The same for a structured op that computes with any numbers.
void require_numbers(const Op& op);
// The common element type of the operands from `first` on; throws Error if they differ.
DType same_dtype(const Op& op, size_t first = 0);
// The axis, counted from the front.
int64_t axis_of(const Op& op, int64_t axis, int64_t rank);
// The axes, counted from the front, ascending, without repeats.
Dims axes_of(const Op& op, int64_t rank);
// The shape in the attribute: unknown dimensions are legal, other negative ones are not.
const Shape& given_shape(const Op& op);

uint64_t element_count(const Value& v);
// The cost of an op with this arithmetic that reads every operand whose elements count and writes every result.
Cost cost_of(const Op& op, uint64_t flops);

}  // namespace alloy::ir
