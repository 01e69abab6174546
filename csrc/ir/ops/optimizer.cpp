// Optimizer steps: they return new values and write nothing.
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

// The type of values, state and gradient, which must be equal. Coefficients are scalars of any shape with one element.
Type optimizer_type(const Op& op) {
  same_dtype(op);
  const size_t first = op.info().facts.coefficients;
  for (size_t i = 0; i < first; ++i) {
    const Shape& shape = operand(op, i).shape;
    if (shape.is_static() && shape.element_count() != 1) {
      op.fail("Expected coefficients of one element, got " + text(operand(op, i)));
    }
  }
  Type type = operand(op, first);
  for (size_t i = first + 1; i < op.operands.size(); ++i) {
    auto shape = unify(type.shape, operand(op, i).shape);
    if (!shape) {
      op.fail("Shapes " + to_string(type.shape) + " and " + to_string(operand(op, i).shape) +
              " of values, state and gradient differ");
    }
    type.shape = *shape;
  }
  if (!accepts(TypeClass::floating, type.dtype)) {
    op.fail("Expected a floating type, got " + text(type), Error::Kind::kType);
  }
  return type;
}

}  // namespace

Types infer_sgd(const Op& op) { return {optimizer_type(op)}; }
Types infer_adam(const Op& op) { return Types(op.operands.size() == 8 ? 3 : 4, optimizer_type(op)); }

void gradient_sgd(GradientRule& r) { r.op().fail("An optimizer's step has no gradient"); }
void gradient_adam(GradientRule& r) { r.op().fail("An optimizer's step has no gradient"); }

Cost cost_sgd(const Op& op) { return cost_of(op, 2 * element_count(op.result())); }
// 3 for the first moment, 4 for the second, 5 for the value, 1 for the greatest second moment.
Cost cost_adam(const Op& op) { return cost_of(op, (op.operands.size() == 9 ? 13 : 12) * element_count(op.result())); }

}  // namespace alloy::ir
