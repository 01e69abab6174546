// Softmax, its logarithm, and softmax_cross_entropy.
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_softmax(const Op& op) {
  const Type& x = operand(op, 0);
  if (!accepts(TypeClass::floating, x.dtype)) op.fail("Expected a floating type, got " + text(x), Error::Kind::kType);
  if (x.shape.ranked()) axis_of(op, op.attributes.integer(Attr::kAxis), x.shape.rank());
  return {x};
}
Types infer_log_softmax(const Op& op) { return infer_softmax(op); }

void gradient_softmax(GradientRule& r) {
  r.give(0, softmax_gradient(r.g(), r.y(), r.op().attributes.integer(Attr::kAxis)));
}

void gradient_log_softmax(GradientRule& r) {
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  r.give(0, r.g() - softmax(r.x(), axis) * sum(r.g(), {axis}));
}

// For each element: the maximum, a difference, an exponential, their sum, and a quotient (or a difference for the
// logarithm).
Cost cost_softmax(const Op& op) { return cost_of(op, 5 * element_count(op.operands[0])); }
Cost cost_log_softmax(const Op& op) { return cost_softmax(op); }

Types infer_softmax_cross_entropy(const Op& op) {
  const DType dtype = same_dtype(op);
  if (!accepts(TypeClass::floating, dtype)) {
    op.fail("Expected a floating type, got " + text(operand(op, 0)), Error::Kind::kType);
  }
  auto shape = unify(operand(op, 0).shape, operand(op, 1).shape);
  if (!shape) {
    op.fail("The source has shape " + to_string(operand(op, 0).shape) + " but the labels have shape " +
            to_string(operand(op, 1).shape));
  }
  const bool keeps = op.attributes.word(Attr::kReduction) == "none";
  if (!shape->ranked()) return {{dtype, keeps ? *shape : Shape({1})}};
  const int64_t axis = axis_of(op, op.attributes.integer(Attr::kAxis), shape->rank());
  if (!keeps) return {{dtype, Shape({1})}};
  Dims dims = shape->dims();
  dims[axis] = 1;
  return {{dtype, Shape(dims)}};
}

void gradient_softmax_cross_entropy(GradientRule& r) {
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  const std::string& reduction = r.op().attributes.word(Attr::kReduction);
  if (r.wants(0)) r.give(0, softmax_cross_entropy_gradient(r.g(), r.x(0), r.x(1), axis, reduction));
  if (r.wants(1)) {
    const Expr per_row = -log_softmax(r.x(0), axis) * r.g();
    r.give(1, reduction == "mean" ? per_row / count(r.x(0), all_axes(r.x(0), axis)) : per_row);
  }
}

// The cost of log_softmax, the product with the labels, and the sum.
Cost cost_softmax_cross_entropy(const Op& op) { return cost_of(op, 7 * element_count(op.operands[0])); }

}  // namespace alloy::ir
