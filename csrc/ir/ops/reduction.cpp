// Reductions: the table's ops, and reduce_like.
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

Shape reduced(const Op& op) {
  Shape shape = operand(op, 0).shape;
  if (!shape.ranked()) return shape;
  Dims dims = shape.dims();
  for (int64_t axis : axes_of(op, shape.rank())) dims[axis] = 1;
  return Shape(dims);
}

}  // namespace

Types infer_reduction(const Op& op) {
  require_types(op);
  return {{operand(op, 0).dtype, reduced(op)}};
}

Types infer_arg_reduction(const Op& op) {
  require_types(op);
  Shape shape = operand(op, 0).shape;
  if (shape.ranked()) {
    Dims dims = shape.dims();
    int64_t& extent = dims[axis_of(op, op.attributes.integer(Attr::kAxis), shape.rank())];
    if (extent == 0) op.fail("Expected at least one element along the axis, got " + text(shape));
    extent = 1;
    shape = Shape(dims);
  }
  return {{DType::int32, shape}};
}

Cost cost_reduction(const Op& op) {
  // A variance adds each element up, subtracts the mean, squares and adds up again.
  return cost_of(op, (op.code == OpCode::variance ? 4 : 1) * element_count(op.operands[0]));
}

namespace {

// ---- functions that the rows call ----

Expr share_ties(Expr g, Expr x, Expr y, const Dims& axes) {
  const Expr mask = cast(x == y, x.value().dtype());
  return mask * (g / sum(mask, axes));
}

// The product of all other elements: y / x without zeros, and exact with one zero. If two elements are 0, the other
// zero stays in the expression as a factor, so that its derivative is right.
Expr product_gradient(Expr g, Expr x, const Dims& axes) {
  const Expr is_zero = x == 0.0;
  const Expr zeros = sum(cast(is_zero, x.value().dtype()), axes), zero = sum(select(is_zero, x, 0.0), axes);
  const Expr filled = select(is_zero, 1.0, x);
  const Expr others = product(filled, axes);
  return g * select(is_zero, others * select(zeros == 1.0, 1.0, select(zeros == 2.0, zero - x, 0.0)),
                    others / filled * select(zeros == 0.0, 1.0, select(zeros == 1.0, zero, 0.0)));
}

}  // namespace

#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  void gradient_##name(GradientRule& r) {                                        \
    [[maybe_unused]] const Expr g = r.g(), x = r.x(), y = r.y();                 \
    [[maybe_unused]] const Dims& axes = r.op().attributes.ints(Attr::kAxes);     \
    r.give(0, gradient);                                                         \
  }
#define ALLOY_MOMENT(name, stem, gradient, doc) ALLOY_REDUCTION(name, stem, , , , , gradient, doc)
#define ALLOY_ARG_REDUCTION(name, ...) \
  void gradient_##name(GradientRule&) {}
#include "ir/ops.def"

// ---- reduce_like ----

Types infer_reduce_like(const Op& op) {
  const Type &x = operand(op, 0), &like = operand(op, 1);
  auto wider = broadcast(x.shape, like.shape);
  if (!wider || (wider->ranked() && x.shape.ranked() && !unify(*wider, x.shape))) {
    op.fail("Shape " + to_string(x.shape) + " is not a broadcast of shape " + to_string(like.shape));
  }
  return {{x.dtype, like.shape}};
}

void gradient_reduce_like(GradientRule& r) { r.give(0, broadcast_like(r.g(), r.x())); }

Cost cost_reduce_like(const Op& op) {
  return cost_of(op, op.operands[0].shape() == op.results[0].shape ? 0 : element_count(op.operands[0]));
}

}  // namespace alloy::ir
