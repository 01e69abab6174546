// Complex numbers and their parts.
#include "ir/rules/complex.h"

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_view_as_real(const Op& op) {
  const Type& x = operand(op, 0);
  const auto part = part_of(x.dtype);
  if (!part) op.fail("Expected complex numbers, got " + text(x), Error::Kind::kType);
  if (!x.shape.ranked()) return {{*part, x.shape}};
  Dims dims = x.shape.dims();
  dims.push_back(2);
  return {{*part, Shape(dims)}};
}

Types infer_view_as_complex(const Op& op) {
  const Type& x = operand(op, 0);
  const auto whole = complex_of(x.dtype);
  if (!whole) op.fail("Expected parts of float32 or float16, got " + text(x), Error::Kind::kType);
  if (!x.shape.ranked()) return {{*whole, x.shape}};
  Dims dims = x.shape.dims();
  if (dims.empty() || (dims.back() != 2 && dims.back() != kUnknown)) {
    op.fail("Expected a last axis of 2 parts, got " + text(x.shape));
  }
  dims.pop_back();
  return {{*whole, Shape(dims)}};
}

void gradient_view_as_real(GradientRule& r) { r.give(0, view_as_complex(r.g())); }
void gradient_view_as_complex(GradientRule& r) { r.give(0, view_as_real(r.g())); }

Cost cost_view_as_real(const Op&) { return {}; }
Cost cost_view_as_complex(const Op&) { return {}; }

// ---- composites ----

namespace {

Expr part(Expr x, int64_t which) {
  const Expr pairs = view_as_real(x);
  return squeeze(slice(pairs, rank_of(pairs) - 1, which, which + 1), {-1});
}

// 1 and -1, for the real and the imaginary part.
Expr conjugating(Expr pairs) {
  return cast(integers(pairs.graph(), DType::int32, {2}, std::vector<int64_t>{1, -1}), pairs.value().dtype());
}

}  // namespace

Exprs compose_complex(const Composition& c) {
  for (const Expr& x : c.all()) {
    if (!complex_of(x.value().dtype())) {
      c.fail("Expected parts of float32 or float16, got " + text(x.value().type()), Error::Kind::kType);
    }
  }
  return {joined({expand_dims(c.x(0), {-1}), expand_dims(c.x(1), {-1})})};
}

Exprs compose_real(const Composition& c) { return {is_complex(c.x()) ? part(c.x(), 0) : identity(c.x())}; }

Exprs compose_imag(const Composition& c) {
  return {is_complex(c.x()) ? part(c.x(), 1) : broadcast_like(c.x().scalar(0), c.x())};
}

Exprs compose_conjugate(const Composition& c) {
  if (!is_complex(c.x())) return {identity(c.x())};
  const Expr pairs = view_as_real(c.x());
  return {view_as_complex(pairs * conjugating(pairs))};
}

Exprs compose_absolute_square(const Composition& c) {
  if (!is_complex(c.x())) return {square(c.x())};
  return {squeeze(sum(square(view_as_real(c.x())), {-1}), {-1})};
}

Exprs compose_planar(const Composition& c) {
  if (!is_complex(c.x())) return {identity(c.x())};
  if (rank_of(c.x()) == 0) c.fail("Expected a tensor of rank 1 or more, got a scalar");
  return {concat({part(c.x(), 0), part(c.x(), 1)}, -1)};
}

}  // namespace alloy::ir
