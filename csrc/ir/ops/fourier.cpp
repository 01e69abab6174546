// Fourier transforms.
#include <algorithm>
#include <bit>

#include "ir/rules/complex.h"
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_fourier_transform(const Op& op) {
  const Type& x = operand(op, 0);
  if (!accepts(TypeClass::floating, x.dtype)) {
    op.fail("Expected an operand of a floating type, got " + text(x), Error::Kind::kType);
  }
  if (op.attributes.ints(Attr::kAxes).empty()) op.fail("Expected one axis or more, got none");
  if (!x.shape.ranked()) return {x};
  const int64_t last = x.shape.rank() - 1;
  if (last < 0 || (x.shape[last] != 2 && x.shape[last] != kUnknown)) {
    op.fail("Expected a last axis of 2 parts, got " + text(x.shape));
  }
  if (axes_of(op, last).size() != op.attributes.ints(Attr::kAxes).size()) op.fail("Axes repeat");
  return {x};
}

// The adjoint is the transform in the other direction with the same scale.
void gradient_fourier_transform(GradientRule& r) {
  Attributes back = r.op().attributes;
  back.set(Attr::kInverse, !back.flag(Attr::kInverse));
  r.give(0, apply(OpCode::fourier_transform, {r.g()}, back));
}

// By the usual convention, 5 log2 n for each complex number and each axis, with log2 rounded up.
Cost cost_fourier_transform(const Op& op) {
  const Shape& x = op.results[0].shape;
  uint64_t logarithms = 0;
  for (int64_t axis : axes_of(op, x.rank() - 1)) logarithms += std::bit_width(static_cast<uint64_t>(x[axis] - 1));
  return cost_of(op, element_count(op.result()) / 2 * 5 * logarithms);
}

// ---- composites ----

namespace {

// The axes, counted from the front, in the given order.
Dims listed_axes(const Composition& c, int64_t rank) {
  Dims axes;
  for (int64_t given : c.attributes.ints(Attr::kAxes)) {
    const auto axis = normalize_axis(given, rank);
    if (!axis) c.fail("Axis " + std::to_string(given) + " is outside a tensor of rank " + std::to_string(rank));
    if (std::find(axes.begin(), axes.end(), *axis) != axes.end()) c.fail("Axes repeat");
    axes.push_back(*axis);
  }
  if (axes.empty()) c.fail("Expected one axis or more, got none");
  return axes;
}

// Transforms pairs of real and imaginary parts; over no axes returns them.
Expr transformed(const Composition& c, Expr pairs, const Dims& axes) {
  if (axes.empty()) return pairs;
  return apply(OpCode::fourier_transform, {pairs},
               {{Attr::kAxes, axes},
                {Attr::kInverse, c.attributes.flag(Attr::kInverse)},
                {Attr::kScaling, c.attributes.word(Attr::kScaling)}});
}

// The length along an axis; refuses an unknown one, since another length is computed from it.
int64_t length_of(const Composition& c, Expr x, int64_t axis) {
  const int64_t length = x.shape()[axis];
  if (length == kUnknown) {
    c.fail("Expected a known length of the last axis of the transform, got " + text(x.shape()));
  }
  return length;
}

// Completes the transform of real numbers, of which only the first elements are given, by conjugates.
Expr completed(const Composition& c, Expr pairs, int64_t axis) {
  const int64_t given = length_of(c, pairs, axis), whole = 2 * (given - 1) + (c.attributes.flag(Attr::kOdd) ? 1 : 0);
  if (whole < 1) c.fail("Expected 2 elements or more along the last axis of the transform, got " + text(c.x().shape()));
  if (whole == given) return pairs;
  const Expr sign = cast(integers(c.graph, DType::int32, {2}, std::vector<int64_t>{1, -1}), pairs.value().dtype());
  return concat({pairs, slice(pairs, axis, whole - given, 0, -1) * sign}, axis);
}

}  // namespace

Exprs compose_fft(const Composition& c) {
  const Expr x = as_complex(c.x());
  return {view_as_complex(transformed(c, view_as_real(x), listed_axes(c, rank_of(x))))};
}

Exprs compose_rfft(const Composition& c) {
  if (is_complex(c.x())) c.fail("Expected real numbers, got " + text(c.x().value().type()), Error::Kind::kType);
  const Dims axes = listed_axes(c, rank_of(c.x()));
  const int64_t length = length_of(c, c.x(), axes.back());
  const Expr whole = transformed(c, view_as_real(as_complex(c.x())), axes);
  return {view_as_complex(slice(whole, axes.back(), 0, length / 2 + 1))};
}

Exprs compose_irfft(const Composition& c) {
  if (!is_complex(c.x())) c.fail("Expected complex numbers, got " + text(c.x().value().type()), Error::Kind::kType);
  const Dims axes = listed_axes(c, rank_of(c.x()));
  const Expr others = transformed(c, view_as_real(c.x()), Dims(axes.begin(), axes.end() - 1));
  const Expr whole = transformed(c, completed(c, others, axes.back()), {axes.back()});
  return {squeeze(parts_of(view_as_complex(whole)).re, {-1})};
}

}  // namespace alloy::ir
