// Padding.
#include <algorithm>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/rules/windows.h"
#include "ir/transform/gradients.h"

namespace alloy::ir {

Types infer_pad(const Op& op) {
  const DType dtype = same_dtype(op);
  const Shape &x = operand(op, 0).shape, &value = operand(op, 1).shape;
  const Dims& padding = op.attributes.ints(Attr::kPadding);
  if (!unify(value, Shape())) op.fail("Expected a scalar to pad with, got " + text(operand(op, 1)));
  if (padding.size() % 2 != 0) op.fail("Expected a padding before and one after each axis, got " + text(padding));
  if (std::any_of(padding.begin(), padding.end(), [](int64_t count) { return count < 0; })) {
    op.fail("Expected paddings of 0 or more, got " + text(padding));
  }
  if (!x.ranked()) return {{dtype, x}};
  if (padding.size() != 2 * x.rank()) {
    op.fail("Expected " + std::to_string(2 * x.rank()) + " paddings for " + text(x) + ", got " + text(padding));
  }
  Dims dims = x.dims();
  for (int64_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == kUnknown) continue;
    if (__builtin_add_overflow(dims[i], padding[2 * i], &dims[i]) ||
        __builtin_add_overflow(dims[i], padding[2 * i + 1], &dims[i])) {
      op.fail("Paddings of " + text(padding) + " are larger than any tensor");
    }
  }
  return {{dtype, Shape(dims)}};
}

void gradient_pad(GradientRule& r) {
  const Dims& padding = r.op().attributes.ints(Attr::kPadding);
  Dims starts, ends;
  for (int64_t i = 0; i < padding.size(); i += 2) {
    starts.push_back(padding[i]);
    ends.push_back(padding[i + 1] == 0 ? kSliceToEnd : -padding[i + 1]);
  }
  const Attributes inside{{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, Dims(starts.size(), 1)}};
  const Expr of_x = apply(OpCode::slice, {r.g()}, inside);
  r.give(0, of_x);
  if (r.wants(1)) r.give(1, r.g() - apply(OpCode::slice_gradient, {of_x, r.g()}, inside));
}

Cost cost_pad(const Op& op) { return cost_of(op, 0); }

// ---- composites ----

namespace {

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// The element that continues an axis at some position, and whether its sign is changed.
struct Continued {
  int64_t place;
  bool is_negated = false;
};

Continued continued(const std::string& mode, int64_t at, int64_t extent) {
  if (mode == "edge") return {std::clamp<int64_t>(at, 0, extent - 1)};
  if (mode == "wrap") return {modulo(at, extent)};
  if (mode == "antiperiodic") {
    const int64_t place = modulo(at, 2 * extent);
    return {place % extent, place >= extent};
  }
  // Mirrored at the last element ("reflect") or behind it ("symmetric").
  const int64_t period = mode == "reflect" ? 2 * extent - 2 : 2 * extent;
  const int64_t place = period == 0 ? 0 : modulo(at, period), end = mode == "reflect" ? period : period - 1;
  return {place < extent ? place : end - place};
}

// Checks that the axis is long enough to be mirrored once.
void require_room(const Composition& c, const std::string& mode, const Shape& shape, int64_t axis, int64_t most) {
  const int64_t extent = shape[axis];
  const bool fits = mode == "reflect" ? most < extent : mode == "symmetric" ? most <= extent : extent > 0;
  if (fits) return;
  c.fail("A padding of " + std::to_string(most) + " does not fit axis " + std::to_string(axis) + " of " + text(shape) +
         " in mode " + mode);
}

// Continues x along one axis, from `before` positions before its first element to `after` behind its last.
Expr continued_along(const Composition& c, Expr x, int64_t axis, int64_t before, int64_t after) {
  const std::string& mode = c.attributes.word(Attr::kPadMode);
  const int64_t extent = x.shape()[axis];
  if (extent == kUnknown) c.fail("Expected a known extent to pad, got " + text(x.shape()));
  require_room(c, mode, x.shape(), axis, std::max(before, after));
  c.require_places(std::max(before, after));
  c.require_places(extent + before + after);
  std::vector<int64_t> places, negated;
  for (int64_t at = -before; at < extent + after; ++at) {
    const Continued element = continued(mode, at, extent);
    places.push_back(element.place);
    negated.push_back(element.is_negated);
  }
  const int64_t count = std::ssize(places);
  const Expr y = gather(x, integers(c.graph, DType::int32, {count}, places), axis, 0);
  if (std::find(negated.begin(), negated.end(), 1) == negated.end()) return y;
  Dims along(x.shape().rank() - axis, 1);
  along[0] = count;
  return select(integers(c.graph, DType::boolean, along, negated), -y, y);
}

Dims paddings_of(const Composition& c, Expr x) {
  const Dims& padding = c.attributes.ints(Attr::kPadding);
  if (padding.size() != 2 * rank_of(x)) {
    c.fail("Expected " + std::to_string(2 * rank_of(x)) + " paddings for " + text(x.shape()) + ", got " +
           text(padding));
  }
  for (int64_t axis = 0; axis < rank_of(x); ++axis) {
    const int64_t extent = x.shape()[axis], before = std::min<int64_t>(padding[2 * axis], 0),
                  after = std::min<int64_t>(padding[2 * axis + 1], 0);
    const int64_t most = extent == kUnknown ? INT64_MAX : extent;  // cutting off so many leaves nothing
    if ((before < 0 || after < 0) && (before <= -most || after <= -most || after <= -most - before)) {
      c.fail("Paddings of " + text(padding) + " leave nothing of axis " + std::to_string(axis) + " of " +
             text(x.shape()));
    }
  }
  return padding;
}

// Cuts elements off where paddings are negative, and sets these paddings to 0.
Expr cut(Expr x, Dims& padding) {
  for (int64_t axis = 0; axis < rank_of(x); ++axis) {
    int64_t &before = padding[2 * axis], &after = padding[2 * axis + 1];
    if (before < 0 || after < 0) {
      x = slice(x, axis, std::max<int64_t>(-before, 0), after < 0 ? after : INT64_MAX);
    }
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  return x;
}

Expr padded(const Composition& c, Expr x, Expr value = none) {
  Dims padding = paddings_of(c, x);
  if (c.attributes.word(Attr::kPadMode) == "constant") {
    const Expr left = cut(x, padding);
    const bool is_cut_alone = left.value() != x.value() && padding == Dims(padding.size(), 0);
    return is_cut_alone ? left : apply(OpCode::pad, {left, value ? value : x.scalar(0)}, {{Attr::kPadding, padding}});
  }
  if (value) c.fail("A value is for the mode constant alone, got " + c.attributes.word(Attr::kPadMode));
  for (int64_t axis = 0; axis < x.shape().rank(); ++axis) {
    const int64_t before = padding[2 * axis], after = padding[2 * axis + 1];
    if (before != 0 || after != 0) x = continued_along(c, x, axis, before, after);
  }
  return x;
}

}  // namespace

Exprs compose_pad_edges(const Composition& c) {
  return {c.operands.size() == 2 ? padded(c, c.x(), c.x(1)) : padded(c, c.x())};
}

Exprs compose_pad_gradient(const Composition& c) {
  return {rounded_adjoint(c.x(0), c.x(1), [&](Expr x) { return padded(c, x); })};
}

}  // namespace alloy::ir
