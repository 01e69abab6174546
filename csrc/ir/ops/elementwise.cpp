// Elementwise ops: the table's ops, and cast.
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

Shape broadcast_all(const Op& op) {
  Shape shape = operand(op, 0).shape;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    auto wider = broadcast(shape, operand(op, i).shape);
    if (!wider) op.fail("Shapes " + to_string(shape) + " and " + to_string(operand(op, i).shape) + " do not broadcast");
    shape = *wider;
  }
  return shape;
}

}  // namespace

Types infer_elementwise(const Op& op) {
  require_types(op);
  return {{same_dtype(op), broadcast_all(op)}};
}

Types infer_comparison(const Op& op) {
  require_types(op);
  same_dtype(op);
  return {{DType::boolean, broadcast_all(op)}};
}

Types infer_ternary(const Op& op) {
  require_types(op);
  // select's first operand is a predicate of any type.
  const DType dtype = op.code == OpCode::select ? same_dtype(op, 1) : same_dtype(op);
  return {{dtype, broadcast_all(op)}};
}

Cost cost_elementwise(const Op& op) {
  return op.info().facts.renames ? Cost{} : cost_of(op, element_count(op.result()));
}

namespace {

// ---- functions that the rows call ----

// For a constant exponent, the exponent minus 1 is a constant, too: the engine has faster ways for some of them.
Expr power_gradient_base(Expr g, Expr a, Expr b) {
  const Op& op = *b.value().op;
  if (op.code == OpCode::constant && b.shape() == Shape()) {
    const double exponent = op.attributes.get<LiteralRef>(Attr::kValue)->at(0);
    return exponent == 0 ? broadcast_like(g.scalar(0), g) : g * b * power(a, b.scalar(exponent - 1));
  }
  return select(b == 0.0, 0.0, g * b * power(a, b - 1.0));
}

// At a = 0 the logarithm is infinite, but for b > 0 the gradient is 0, as 0^b does not depend on b.
Expr power_gradient_exponent(Expr g, Expr a, Expr b, Expr y) {
  const Expr vanishes =
      multiply(cast(a == 0.0, a.value().dtype()), cast(greater_equal(b, b.scalar(0.0)), a.value().dtype()));
  return select(vanishes == 1.0, 0.0, g * y * log(a));
}

// The quotient of a and b that leaves the remainder y. a / b itself may be rounded up to the next integer.
Expr whole_quotient(Expr a, Expr b, Expr y) {
  return rounded_once([](Expr a, Expr b, Expr y) { return rint((a - y) / b); }, a, b, y);
}

// Computes a gradient of a function of floats in float32: with two-byte floats, squares would overflow and differences
// to 1 would vanish.
template <TypeClass types, class F, class... More>
Expr back(const F& f, Expr g, More... more) {
  if constexpr (types != TypeClass::floating) return f(g, more...);
  const DType dtype = g.value().dtype(), wide = computed_in(dtype);
  const Expr gradient = f(cast(g, wide), cast(more, wide)...);
  return gradient ? cast(gradient, dtype) : none;
}

}  // namespace

// The gradients in the rows. Each expression is built only if the gradient is wanted.
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc)                                     \
  void gradient_##name(GradientRule& r) {                                                                  \
    const auto f = []([[maybe_unused]] Expr g, [[maybe_unused]] Expr x, [[maybe_unused]] Expr y) -> Expr { \
      return gradient;                                                                                     \
    };                                                                                                     \
    r.give(0, back<TypeClass::types>(f, r.g(), r.x(), r.y()));                                             \
  }
#define ALLOY_ACTIVATION(name, stem, types, domain, forward, gradient, doc) \
  void gradient_##name(GradientRule& r) {                                   \
    const Expr g = r.g(), x = r.x();                                        \
    r.give(0, gradient);                                                    \
  }
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc)               \
  void gradient_##name(GradientRule& r) {                                                           \
    const auto of_a = []([[maybe_unused]] Expr g, [[maybe_unused]] Expr a, [[maybe_unused]] Expr b, \
                         [[maybe_unused]] Expr y) -> Expr { return gradient_a; };                   \
    const auto of_b = []([[maybe_unused]] Expr g, [[maybe_unused]] Expr a, [[maybe_unused]] Expr b, \
                         [[maybe_unused]] Expr y) -> Expr { return gradient_b; };                   \
    if (r.wants(0)) r.give(0, back<TypeClass::types>(of_a, r.g(), r.x(0), r.x(1), r.y()));          \
    if (r.wants(1)) r.give(1, back<TypeClass::types>(of_b, r.g(), r.x(0), r.x(1), r.y()));          \
  }
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, gradient_g, gradient_x, doc) \
  ALLOY_BINARY(name, stem, types, , forward, gradient_g, gradient_x, doc)
#define ALLOY_TERNARY(name, types, forward, gradient_a, gradient_b, gradient_c, doc)      \
  void gradient_##name(GradientRule& r) {                                                 \
    [[maybe_unused]] const Expr g = r.g(), a = r.x(0), b = r.x(1), c = r.x(2), y = r.y(); \
    if (r.wants(0)) r.give(0, gradient_a);                                                \
    if (r.wants(1)) r.give(1, gradient_b);                                                \
    if (r.wants(2)) r.give(2, gradient_c);                                                \
  }
#define ALLOY_PREDICATE(name, ...) \
  void gradient_##name(GradientRule&) {}
#define ALLOY_COMPARISON ALLOY_PREDICATE
#include "ir/ops.def"

// ---- composites ----

namespace {

// True if max(x, alpha x) is x and not alpha x.
Expr is_above(Expr x, Expr alpha) { return x > alpha * x; }

}  // namespace

Exprs compose_leaky_relu(const Composition& c) { return {select(is_above(c.x(0), c.x(1)), c.x(0), c.x(1) * c.x(0))}; }

Exprs compose_leaky_relu_gradient(const Composition& c) {
  return {select(is_above(c.x(1), c.x(2)), c.x(0), c.x(2) * c.x(0))};
}

// ---- cast ----

Types infer_cast(const Op& op) {
  const DType to = op.attributes.get<DType>(Attr::kDtype);
  if (kind(to) == DTypeKind::kComplex || kind(operand(op, 0).dtype) == DTypeKind::kComplex) {
    op.fail("Complex numbers are not cast to real ones", Error::Kind::kType);
  }
  return {{to, operand(op, 0).shape}};
}

std::optional<Elements> elements_cast(const Op&, std::span<const std::optional<Elements>> operands) {
  return operands[0];
}

void gradient_cast(GradientRule& r) {
  if (kind(r.x().value().dtype()) == DTypeKind::kFloating) r.give(0, cast(r.g(), r.x().value().dtype()));
}

Cost cost_cast(const Op& op) { return cost_of(op, 0); }

}  // namespace alloy::ir
