#include "ir/expr.h"

namespace alloy::ir {

Expr Expr::scalar(double number) const {
  return Expr(*graph_,
              graph_->value(OpCode::constant, {}, {{Attr::kValue, Literal::splat({value_.dtype(), Shape()}, number)}}));
}

Expr apply(OpCode code, const std::vector<Expr>& operands, Attributes attributes) {
  std::vector<Value> values;
  for (const Expr& e : operands) values.push_back(e.value());
  Graph& graph = operands.front().graph();
  return Expr(graph, graph.value(code, std::move(values), std::move(attributes)));
}

#define ALLOY_UNARY(name, ...) \
  Expr name(Expr x) { return apply(OpCode::name, {x}); }
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(name, ...) \
  Expr name(Expr a, Expr b) { return apply(OpCode::name, {a, b}); }
#define ALLOY_COMPARISON ALLOY_BINARY
#define ALLOY_ACTIVATION_GRADIENT(name, ...) \
  Expr name(Expr g, Expr x) { return apply(OpCode::name, {g, x}); }
#define ALLOY_REDUCTION(name, ...) \
  Expr name(Expr x, const Dims& axes) { return apply(OpCode::name, {x}, {{Attr::kAxes, axes}}); }
#define ALLOY_MOMENT ALLOY_REDUCTION
#include "ir/ops.def"

Expr operator-(Expr x) { return negative(x); }
#define ALLOY_OPERATOR(symbol, name)                                      \
  Expr operator symbol(Expr a, Expr b) { return name(a, b); }             \
  Expr operator symbol(Expr a, double b) { return name(a, a.scalar(b)); } \
  Expr operator symbol(double a, Expr b) { return name(b.scalar(a), b); }
ALLOY_OPERATOR(+, add)
ALLOY_OPERATOR(-, subtract)
ALLOY_OPERATOR(*, multiply)
ALLOY_OPERATOR(/, divide)
ALLOY_OPERATOR(<, less)
ALLOY_OPERATOR(>, greater)
ALLOY_OPERATOR(==, equal)
#undef ALLOY_OPERATOR

Expr select(Expr predicate, Expr yes, Expr no) { return apply(OpCode::select, {predicate, yes, no}); }
Expr select(Expr predicate, Expr yes, double no) { return select(predicate, yes, yes.scalar(no)); }
Expr select(Expr predicate, double yes, Expr no) { return select(predicate, no.scalar(yes), no); }
Expr cast(Expr x, DType dtype) {
  return x.value().dtype() == dtype ? x : apply(OpCode::cast, {x}, {{Attr::kDtype, dtype}});
}
Expr count(Expr x, const Dims& axes) { return apply(OpCode::count, {x}, {{Attr::kAxes, axes}}); }
Expr softmax(Expr x, int64_t axis) { return apply(OpCode::softmax, {x}, {{Attr::kAxis, axis}}); }
Expr log_softmax(Expr x, int64_t axis) { return apply(OpCode::log_softmax, {x}, {{Attr::kAxis, axis}}); }
Expr broadcast_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::broadcast_like, {x, like});
}
Expr reshape_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::reshape_like, {x, like});
}
Expr reduce_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::reduce_like, {x, like});
}

Dims all_axes(Expr x, std::optional<int64_t> except) {
  if (!x.shape().ranked()) {
    x.value().op->fail("A tensor of known rank is needed here, got " + to_string(x.value().type()));
  }
  Dims axes;
  for (int64_t i = 0; i < x.shape().rank(); ++i) {
    if (!except || i != *normalize_axis(*except, x.shape().rank())) axes.push_back(i);
  }
  return axes;
}

Expr softmax_gradient(Expr g, Expr y, int64_t axis) { return y * (g - sum(g * y, {axis})); }

Expr softmax_cross_entropy_gradient(Expr g, Expr source, Expr labels, int64_t axis, const std::string& reduction) {
  const Expr per_row = softmax(source, axis) * sum(labels, {axis}) - labels;
  if (reduction != "mean") return per_row * g;
  return per_row * (g / count(source, all_axes(source, axis)));
}

}  // namespace alloy::ir
