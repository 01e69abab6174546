// Placeholders, constants and variables.
#include <cmath>

#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_placeholder(const Op& op) { return {{op.attributes.get<DType>(Attr::kDtype), given_shape(op)}}; }
Types infer_empty(const Op& op) { return infer_placeholder(op); }

Types infer_constant(const Op& op) { return {op.attributes.get<LiteralRef>(Attr::kValue)->type()}; }
Types infer_variable(const Op& op) { return infer_constant(op); }

Types infer_read_variable(const Op& op) { return {operand(op, 0)}; }

Types infer_assign(const Op& op) {
  const Type& variable = operand(op, 0);
  const Type& value = operand(op, 1);
  if (variable.dtype != value.dtype) {
    op.fail(
        "The variable is " + std::string(name(variable.dtype)) + " but the value is " + std::string(name(value.dtype)),
        Error::Kind::kType);
  }
  if (!unify(variable.shape, value.shape)) {
    op.fail("The variable has " + text(variable.shape) + " but the value has " + text(value.shape));
  }
  return {};
}

std::optional<Elements> elements_constant(const Op& op, std::span<const std::optional<Elements>>) {
  const Literal& literal = *op.attributes.get<LiteralRef>(Attr::kValue);
  Elements elements;
  for (int64_t i = 0; i < literal.type().shape.element_count(); ++i) {
    const double element = literal.at(i);
    elements.emplace_back();
    if (std::abs(element) < 0x1p62) elements.back() = static_cast<int64_t>(element);
  }
  return elements;
}

void gradient_placeholder(GradientRule&) {}
void gradient_constant(GradientRule&) {}
void gradient_empty(GradientRule&) {}
void gradient_variable(GradientRule&) {}
void gradient_assign(GradientRule&) {}
void gradient_read_variable(GradientRule& r) { r.give(0, r.g()); }

// Their values are in memory before the run.
Cost cost_placeholder(const Op&) { return {}; }
Cost cost_constant(const Op&) { return {}; }
Cost cost_empty(const Op&) { return {}; }
Cost cost_variable(const Op&) { return {}; }
Cost cost_read_variable(const Op&) { return {}; }

Cost cost_assign(const Op& op) {
  const size_t bytes = op.operands[1].type().byte_count();
  return {0, bytes, bytes};
}

}  // namespace alloy::ir
