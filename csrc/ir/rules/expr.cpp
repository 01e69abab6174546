#include "ir/rules/expr.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "ir/rules/complex.h"

namespace alloy::ir {

Expr Expr::scalar(double number) const {
  return Expr(*graph_,
              graph_->value(OpCode::constant, {}, {{Attr::kValue, Literal::splat({value_.dtype(), Shape()}, number)}}));
}

Expr apply(OpCode code, const std::vector<Expr>& operands, Attributes attributes) {
  std::vector<Value> values;
  for (const Expr& e : operands) values.push_back(e.value());
  Graph& graph = operands.front().graph();
  return Expr(graph, add_op(graph, code, std::move(values), std::move(attributes))->result());
}

Expr integers(Graph& graph, DType dtype, const Dims& shape, std::span<const int64_t> values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  // Integers are little-endian, so the lower bytes are the narrower number.
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i * size_of(dtype), &values[i], size_of(dtype));
  }
  auto literal = std::make_shared<const Literal>(Type{dtype, Shape(shape)}, std::move(bytes));
  return Expr(graph, graph.value(OpCode::constant, {}, {{Attr::kValue, std::move(literal)}}));
}

Expr range(Graph& graph, DType dtype, int64_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return integers(graph, dtype, {count}, values);
}

double greatest(DType dtype) {
  switch (dtype) {
    case DType::float32: return std::numeric_limits<float>::max();
    case DType::float16: return 65504;
    case DType::bfloat16: return 0x1.FEp127;
    default: return std::numeric_limits<double>::infinity();  // integers saturate
  }
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
Expr reshape(Expr x, const Dims& dims) {
  if (x.shape() == Shape(dims) && x.shape().is_static()) return x;
  return apply(OpCode::reshape, {x}, {{Attr::kShape, Shape(dims)}});
}
Expr expand_dims(Expr x, const Dims& axes) { return apply(OpCode::expand_dims, {x}, {{Attr::kAxes, axes}}); }
Expr squeeze(Expr x, const Dims& axes) { return apply(OpCode::squeeze, {x}, {{Attr::kAxes, axes}}); }
Expr transpose(Expr x, const Dims& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return apply(OpCode::transpose, {x}, {{Attr::kPermutation, permutation}});
}
Expr broadcast_to(Expr x, const Shape& shape) { return apply(OpCode::broadcast_to, {x}, {{Attr::kShape, shape}}); }
Expr slice(Expr x, int64_t axis, int64_t start, int64_t end, int64_t stride) {
  Dims starts(rank_of(x), 0), ends(starts.size(), std::numeric_limits<int64_t>::max()), strides(starts.size(), 1);
  starts[axis] = start;
  ends[axis] = end;
  strides[axis] = stride;
  return apply(OpCode::slice, {x}, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}});
}
Expr concat(const std::vector<Expr>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : apply(OpCode::concat, parts, {{Attr::kAxis, axis}});
}
Expr gather(Expr x, Expr indices, int64_t axis, int64_t batch_dims) {
  return apply(OpCode::gather, {x, indices}, {{Attr::kAxis, axis}, {Attr::kBatchDims, batch_dims}});
}
Expr matmul(Expr a, Expr b, bool transpose_a, bool transpose_b) {
  return apply(OpCode::matmul, {a, b}, {{Attr::kTransposeA, transpose_a}, {Attr::kTransposeB, transpose_b}});
}
Expr softmax(Expr x, int64_t axis) { return apply(OpCode::softmax, {x}, {{Attr::kAxis, axis}}); }
Expr log_softmax(Expr x, int64_t axis) { return apply(OpCode::log_softmax, {x}, {{Attr::kAxis, axis}}); }
Expr stop_gradient(Expr x) { return apply(OpCode::stop_gradient, {x}); }
Expr view_as_real(Expr x) {
  const Op& op = *x.value().op;
  return op.code == OpCode::view_as_complex ? Expr(x.graph(), op.operands[0]) : apply(OpCode::view_as_real, {x});
}
Expr view_as_complex(Expr pairs) {
  const Op& op = *pairs.value().op;
  return op.code == OpCode::view_as_real ? Expr(pairs.graph(), op.operands[0])
                                         : apply(OpCode::view_as_complex, {pairs});
}
Expr broadcast_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::broadcast_like, {x, like});
}
Expr reshape_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::reshape_like, {x, like});
}
Expr reduce_like(Expr x, Expr like) {
  return x.shape().is_static() && x.shape() == like.shape() ? x : apply(OpCode::reduce_like, {x, like});
}

int64_t rank_of(Expr x) {
  if (!x.shape().ranked()) {
    x.value().op->fail("A tensor of known rank is needed here, got " + to_string(x.value().type()));
  }
  return x.shape().rank();
}

Dims all_axes(Expr x, std::optional<int64_t> except) {
  Dims axes;
  for (int64_t i = 0; i < rank_of(x); ++i) {
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
