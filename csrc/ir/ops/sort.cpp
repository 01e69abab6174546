// Sorting along an axis.
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_argsort(const Op& op) {
  require_numbers(op);
  const Shape& x = operand(op, 0).shape;
  const int64_t count = op.attributes.integer(Attr::kCount);
  if (count < -1) op.fail("Expected a count of 0 or more, or -1, got " + std::to_string(count));
  if (!x.ranked()) return {{DType::int32, x}};
  Dims dims = x.dims();
  int64_t& extent = dims[axis_of(op, op.attributes.integer(Attr::kAxis), x.rank())];
  if (extent != kUnknown && count > extent) {
    op.fail("Expected at most the " + std::to_string(extent) + " elements along the axis of " + text(x) + ", got " +
            std::to_string(count));
  }
  if (count >= 0) extent = count;
  return {{DType::int32, Shape(dims)}};
}

void gradient_argsort(GradientRule&) {}

// Comparisons do not count as arithmetic.
Cost cost_argsort(const Op& op) { return cost_of(op, 0); }

// ---- composites ----

namespace {

Expr order(const Composition& c, Expr x, int64_t axis, int64_t count) {
  return apply(OpCode::argsort, {x},
               {{Attr::kAxis, axis}, {Attr::kCount, count}, {Attr::kDescending, c.attributes.flag(Attr::kDescending)}});
}

Expr taken(const Composition& c, Expr places, int64_t axis) {
  return Expr(c.graph, compose(c.graph, Composite::gather_along_axis, {c.operands[0], places.value()},
                               {{Attr::kAxis, axis}})[0]);
}

int64_t count_of(const Composition& c) {
  const int64_t count = c.attributes.integer(Attr::kCount);
  if (count < 1) c.fail("Expected a count of 1 or more, got " + std::to_string(count));
  return count;
}

}  // namespace

Exprs compose_sort(const Composition& c) {
  const int64_t axis = c.axis_in(rank_of(c.x()));
  return {taken(c, order(c, c.x(), axis, -1), axis)};
}

Exprs compose_top_k(const Composition& c) {
  const int64_t axis = c.axis_in(rank_of(c.x()));
  const Expr places = order(c, c.x(), axis, count_of(c));
  return {taken(c, places, axis), places};
}

Exprs compose_top_k_gradient(const Composition& c) {
  const Expr source = c.x(1);
  const int64_t axis = c.axis_in(rank_of(source));
  const Expr places = order(c, source, axis, count_of(c)), zeros = broadcast_like(c.x().scalar(0), source);
  return {Expr(c.graph, compose(c.graph, Composite::scatter_along_axis, {zeros.value(), c.operands[0], places.value()},
                                {{Attr::kAxis, axis}, {Attr::kMode, std::string("add")}})[0])};
}

}  // namespace alloy::ir
