// Cumulative ops: each element combined with all elements before it.
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

Expr accumulate(Expr x, int64_t axis, const char* operation, bool reverse) {
  return apply(OpCode::accumulate, {x},
               {{Attr::kAxis, axis}, {Attr::kOperation, std::string(operation)}, {Attr::kReverse, reverse}});
}

// The gradient of a cumulative product without a division by zero. Before the first zero it is the sum of g y from each
// element on, divided by the element. At the first zero it is the same sum with a 1 in place of the zero. Behind it, it
// is 0.
Expr product_gradient(Expr g, Expr x, Expr y, int64_t axis, bool reverse) {
  const Expr is_zero = x == 0.0, one = cast(is_zero, DType::int32);
  const Expr is_first = select(is_zero, accumulate(one, axis, "sum", reverse), 0.0) == 1.0;
  const Expr filled = accumulate(select(is_first, 1.0, x), axis, "product", reverse);
  return select(is_first, accumulate(g * filled, axis, "sum", !reverse),
                divide_no_nan(accumulate(g * y, axis, "sum", !reverse), x));
}

// Each result's gradient goes to the element that gave the result; among equal ones, to the nearest.
Expr extremum_gradient(Expr g, Expr x, Expr y, int64_t axis, bool reverse) {
  const Expr ones = broadcast_like(integers(x.graph(), DType::int32, {}, std::vector<int64_t>{1}), x);
  const Expr places = accumulate(ones, axis, "sum", reverse) - 1.0;  // counted in the op's direction
  const Expr from = accumulate(select(x == y, places, -1.0), axis, "maximum", reverse);
  // If only NaN came before, the position is outside the axis, and scatter drops it.
  const Expr at = reverse ? select(less(from, from.scalar(0)), -1.0, count(ones, {axis}) - 1.0 - from) : from;
  const Expr zeros = broadcast_like(g.scalar(0), x);
  return Expr(x.graph(), compose(x.graph(), Composite::scatter_along_axis, {zeros.value(), g.value(), at.value()},
                                 {{Attr::kAxis, axis}, {Attr::kMode, std::string("add")}})[0]);
}

}  // namespace

Types infer_accumulate(const Op& op) {
  require_numbers(op);
  const Type& x = operand(op, 0);
  if (x.shape.ranked()) axis_of(op, op.attributes.integer(Attr::kAxis), x.shape.rank());
  return {x};
}

void gradient_accumulate(GradientRule& r) {
  const std::string& operation = r.op().attributes.word(Attr::kOperation);
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  const bool reverse = r.op().attributes.flag(Attr::kReverse);
  if (operation == "sum") r.give(0, accumulate(r.g(), axis, "sum", !reverse));
  else if (operation == "product") r.give(0, product_gradient(r.g(), r.x(), r.y(), axis, reverse));
  else r.give(0, extremum_gradient(r.g(), r.x(), r.y(), axis, reverse));
}

// 1 for each element.
Cost cost_accumulate(const Op& op) { return cost_of(op, element_count(op.operands[0])); }

// ---- composites ----

namespace {

// The initial value of the op.
Expr start_of(Expr x, const std::string& operation) {
  const double most = greatest(x.value().dtype());
  return x.scalar(operation == "minimum" ? most : operation == "maximum" ? -most : operation == "product" ? 1 : 0);
}

}  // namespace

// An exclusive result is the inclusive result one element before, with the initial value in front. All results are
// joined before the last is cut off, so an axis of one element gives the initial value alone.
Exprs compose_cumulative(const Composition& c) {
  const int64_t axis = c.axis_in(rank_of(c.x()));
  const std::string& operation = c.attributes.word(Attr::kOperation);
  const bool reverse = c.attributes.flag(Attr::kReverse);
  const Expr all = accumulate(c.x(), axis, operation.c_str(), reverse);
  if (!c.attributes.flag(Attr::kExclusive)) return {all};
  const Expr edge = reverse ? slice(all, axis, -1, INT64_MAX) : slice(all, axis, 0, 1);
  const Expr start = broadcast_like(start_of(c.x(), operation), edge);
  if (reverse) return {slice(concat({all, start}, axis), axis, 1, INT64_MAX)};
  return {slice(concat({start, all}, axis), axis, 0, -1)};
}

}  // namespace alloy::ir
