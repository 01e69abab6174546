// Arithmetic on graph values for gradient rules and composites: every operator and function adds ops to the operand's
// graph. An empty Expr (`none`) means "no gradient".
#pragma once

#include "ir/graph.h"

namespace alloy::ir {

class Expr {
 public:
  Expr() = default;
  Expr(Graph& graph, Value value) : graph_(&graph), value_(value) {}

  explicit operator bool() const { return static_cast<bool>(value_); }
  Value value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  Graph& graph() const { return *graph_; }
  // A scalar of this expression's type and graph.
  Expr scalar(double number) const;

 private:
  Graph* graph_ = nullptr;
  Value value_;
};

inline const Expr none;

// A constant of the shape with these integers.
Expr integers(Graph& graph, DType dtype, const Dims& shape, std::span<const int64_t> values);
// 0, 1, ..., count - 1.
Expr range(Graph& graph, DType dtype, int64_t count);

// The greatest finite number of the type, in the form that Expr::scalar and Literal::splat accept; its negative gives
// the least number.
double greatest(DType dtype);

// Adds an op with one result to the first operand's graph; complex operands as in ir/rules/complex.h.
Expr apply(OpCode code, const std::vector<Expr>& operands, Attributes attributes = {});

#define ALLOY_UNARY(name, ...) Expr name(Expr x);
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(name, ...) Expr name(Expr a, Expr b);
#define ALLOY_COMPARISON ALLOY_BINARY
#define ALLOY_ACTIVATION_GRADIENT(name, ...) Expr name(Expr g, Expr x);
#define ALLOY_REDUCTION(name, ...) Expr name(Expr x, const Dims& axes);
#define ALLOY_MOMENT ALLOY_REDUCTION
#include "ir/ops.def"

Expr operator-(Expr x);
#define ALLOY_OPERATOR(symbol)            \
  Expr operator symbol(Expr a, Expr b);   \
  Expr operator symbol(Expr a, double b); \
  Expr operator symbol(double a, Expr b);
ALLOY_OPERATOR(+)
ALLOY_OPERATOR(-)
ALLOY_OPERATOR(*)
ALLOY_OPERATOR(/)
ALLOY_OPERATOR(<)
ALLOY_OPERATOR(>)
ALLOY_OPERATOR(==)
#undef ALLOY_OPERATOR

Expr select(Expr predicate, Expr yes, Expr no);
Expr select(Expr predicate, Expr yes, double no);
Expr select(Expr predicate, double yes, Expr no);
Expr cast(Expr x, DType dtype);
// Applies f to operands cast to the type in which their elements are computed (computed_in), and rounds the result
// once. Operands of different types are passed as they are, so that f refuses them. Operands may be none.
template <class F, class... More>
Expr rounded_once(const F& f, Expr x, More... more) {
  const DType dtype = x.value().dtype();
  const bool alike = ((!more || more.value().dtype() == dtype) && ...);
  const auto wide = [&](Expr v) { return v && alike ? cast(v, computed_in(dtype)) : v; };
  const Expr y = f(wide(x), wide(more)...);
  return alike ? cast(y, dtype) : y;
}
Expr count(Expr x, const Dims& axes);
Expr reshape(Expr x, const Dims& dims);  // one dimension may be unknown
Expr expand_dims(Expr x, const Dims& axes);
Expr squeeze(Expr x, const Dims& axes);
Expr transpose(Expr x, const Dims& permutation);
Expr broadcast_to(Expr x, const Shape& shape);
// A slice along one axis, from start to before end by stride, as in Python.
Expr slice(Expr x, int64_t axis, int64_t start, int64_t end, int64_t stride = 1);
Expr concat(const std::vector<Expr>& parts, int64_t axis);
Expr gather(Expr x, Expr indices, int64_t axis, int64_t batch_dims = 0);
Expr matmul(Expr a, Expr b, bool transpose_a = false, bool transpose_b = false);
Expr softmax(Expr x, int64_t axis);
Expr log_softmax(Expr x, int64_t axis);
Expr stop_gradient(Expr x);
// Each inverts the other; applied to the other's result, it returns the other's operand.
Expr view_as_real(Expr x);
Expr view_as_complex(Expr pairs);
Expr broadcast_like(Expr x, Expr like);
Expr reshape_like(Expr x, Expr like);
// x if the shapes are known to be equal, else the adjoint of broadcasting.
Expr reduce_like(Expr x, Expr like);

// The rank of x; throws Error if it is unknown.
int64_t rank_of(Expr x);
// Every axis of x except `except`; throws Error if the rank is unknown.
Dims all_axes(Expr x, std::optional<int64_t> except = std::nullopt);
// The gradient of softmax over `axis`; y is softmax's result.
Expr softmax_gradient(Expr g, Expr y, int64_t axis);
// The gradient of softmax_cross_entropy with respect to its source; `reduction` as in the op.
Expr softmax_cross_entropy_gradient(Expr g, Expr source, Expr labels, int64_t axis, const std::string& reduction);

}  // namespace alloy::ir
