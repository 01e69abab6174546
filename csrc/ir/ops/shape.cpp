// Reshape, transpose, broadcast, concat, casts of bits; and shapes as values.
#include <algorithm>
#include <numeric>

#include "ir/rules/elements.h"
#include "ir/rules/rules.h"

namespace alloy::ir {

// ---- reshape ----

namespace {

// Fills in the shape's one unknown dimension, if there is one, from the number of the operand's elements.
Shape filled(const Op& op, const Shape& shape) {
  const Shape& from = operand(op, 0).shape;
  Dims dims = shape.dims();
  const auto unknown = std::count(dims.begin(), dims.end(), kUnknown);
  if (!from.is_static() || unknown > 1) return shape;
  const int64_t total = from.element_count();
  int64_t known = 1;
  bool counts = true;
  for (int64_t d : dims) counts = counts && (d == kUnknown || !__builtin_mul_overflow(known, d, &known));
  if (!counts || (unknown == 1 ? (known == 0 || total % known != 0) : known != total)) {
    op.fail("Shape " + to_string(from) + " has " + std::to_string(total) + " elements and does not fit into shape " +
            to_string(shape));
  }
  if (unknown == 1) *std::find(dims.begin(), dims.end(), kUnknown) = total / known;
  return Shape(dims);
}

}  // namespace

Types infer_reshape(const Op& op) {
  const DType dtype = operand(op, 0).dtype;
  const Shape& target = op.attributes.get<Shape>(Attr::kShape);
  if (!target.ranked()) return {{dtype, target}};
  const Dims& dims = target.dims();
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < kUnknown; }) ||
      std::count(dims.begin(), dims.end(), kUnknown) > 1) {
    op.fail("Expected a shape with at most one unknown dimension, got " + to_string(target));
  }
  return {{dtype, filled(op, target)}};
}

Types infer_reshape_like(const Op& op) {
  const Shape& like = operand(op, 1).shape;
  return {{operand(op, 0).dtype, like.ranked() ? filled(op, like) : like}};
}

Types infer_squeeze(const Op& op) {
  const Type& x = operand(op, 0);
  if (!x.shape.ranked()) return {x};
  Dims dims = x.shape.dims();
  const Dims axes = axes_of(op, x.shape.rank());
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
    const int64_t extent = dims[*it];
    if (extent != 1 && extent != kUnknown) {
      op.fail("Axis " + std::to_string(*it) + " of " + text(x.shape) + " is not of size 1");
    }
    dims.erase(dims.begin() + *it);
  }
  return {{x.dtype, Shape(dims)}};
}

Types infer_expand_dims(const Op& op) {
  const Type& x = operand(op, 0);
  if (!x.shape.ranked()) return {x};
  Dims dims = x.shape.dims();
  const int64_t rank = x.shape.rank() + op.attributes.ints(Attr::kAxes).size();
  const Dims axes = axes_of(op, rank);
  if (axes.size() != op.attributes.ints(Attr::kAxes).size()) op.fail("Axes repeat");
  for (int64_t axis : axes) dims.insert(dims.begin() + axis, 1);
  return {{x.dtype, Shape(dims)}};
}

void gradient_reshape(GradientRule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_reshape_like(GradientRule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_squeeze(GradientRule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_expand_dims(GradientRule& r) { r.give(0, reshape_like(r.g(), r.x())); }

Cost cost_reshape(const Op&) { return {}; }
Cost cost_reshape_like(const Op&) { return {}; }
Cost cost_squeeze(const Op&) { return {}; }
Cost cost_expand_dims(const Op&) { return {}; }

// ---- transpose ----

Types infer_transpose(const Op& op) {
  const Type& x = operand(op, 0);
  const Dims& permutation = op.attributes.ints(Attr::kPermutation);
  Dims sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  Dims expected(x.shape.ranked() ? x.shape.dims().size() : permutation.size());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    op.fail("Expected a permutation of the " + std::to_string(expected.size()) + " axes of " + text(x.shape) +
            ", got " + text(permutation));
  }
  if (!x.shape.ranked()) return {x};
  Dims dims;
  for (int64_t axis : permutation) dims.push_back(x.shape[axis]);
  return {{x.dtype, Shape(dims)}};
}

void gradient_transpose(GradientRule& r) {
  const Dims& permutation = r.op().attributes.ints(Attr::kPermutation);
  Dims inverse(permutation.size());
  for (int64_t i = 0; i < permutation.size(); ++i) {
    inverse[permutation[i]] = i;
  }
  r.give(0, apply(OpCode::transpose, {r.g()}, {{Attr::kPermutation, inverse}}));
}

Cost cost_transpose(const Op& op) { return cost_of(op, 0); }

// ---- broadcast ----

namespace {

Types broadcast_into(const Op& op, const Shape& target) {
  const Type& x = operand(op, 0);
  auto wider = broadcast(x.shape, target);
  const bool grows = wider && (!wider->ranked() || !target.ranked() || unify(*wider, target));
  if (!grows) op.fail("Shape " + to_string(x.shape) + " does not broadcast to shape " + to_string(target));
  return {{x.dtype, target.ranked() && wider->ranked() ? *unify(*wider, target) : target}};
}

}  // namespace

Types infer_broadcast_to(const Op& op) { return broadcast_into(op, given_shape(op)); }
Types infer_broadcast_like(const Op& op) { return broadcast_into(op, operand(op, 1).shape); }

void gradient_broadcast_to(GradientRule& r) { r.give(0, reduce_like(r.g(), r.x())); }
void gradient_broadcast_like(GradientRule& r) { r.give(0, reduce_like(r.g(), r.x())); }

Cost cost_broadcast_to(const Op& op) { return cost_of(op, 0); }
Cost cost_broadcast_like(const Op& op) { return cost_of(op, 0); }

// ---- concat ----

Types infer_concat(const Op& op) {
  const DType dtype = same_dtype(op);
  const Shape& first = operand(op, 0).shape;
  for (const Value& v : op.operands) {
    if (!v.shape().ranked()) return {{dtype, Shape::unranked()}};
  }
  if (first.rank() == 0) op.fail("Expected operands of rank 1 or more, got scalars");
  const int64_t axis = axis_of(op, op.attributes.integer(Attr::kAxis), first.rank());
  Dims dims = first.dims();
  int64_t& total = dims[axis];
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Shape& next = operand(op, i).shape;
    bool fits = next.rank() == first.rank();
    for (int64_t a = 0; fits && a < first.rank(); ++a) {
      int64_t& d = dims[a];
      if (a == axis || next[a] == kUnknown) continue;
      if (d == kUnknown) d = next[a];
      fits = d == next[a];
    }
    if (!fits) {
      op.fail("Shapes " + to_string(first) + " and " + to_string(next) + " differ in more than axis " +
              std::to_string(axis));
    }
    total = total == kUnknown || next[axis] == kUnknown ? kUnknown : total + next[axis];
  }
  return {{dtype, Shape(dims)}};
}

std::optional<Elements> elements_concat(const Op&, std::span<const std::optional<Elements>> operands) {
  Elements elements;
  for (const std::optional<Elements>& from : operands) {
    if (!from) return std::nullopt;
    elements.insert(elements.end(), from->begin(), from->end());
  }
  return elements;
}

void gradient_concat(GradientRule& r) {
  const Shape& shape = r.y().shape();
  if (!shape.ranked()) r.op().fail("The gradient of operands of unknown rank is not available");
  const int64_t axis = *normalize_axis(r.op().attributes.integer(Attr::kAxis), shape.rank());
  int64_t start = 0;
  for (size_t i = 0; i < r.op().operands.size(); ++i) {
    const int64_t extent = r.x(i).shape()[axis];
    if (extent == kUnknown) r.op().fail("The gradient of operands of unknown extent along the axis is not available");
    const int64_t rank = shape.rank();
    Dims starts(rank, 0), ends(rank, INT64_MAX), strides(rank, 1);
    starts[axis] = start;
    ends[axis] = start + extent;
    start += extent;
    if (r.wants(i)) {
      r.give(i,
             apply(OpCode::slice, {r.g()}, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}}));
    }
  }
}

Cost cost_concat(const Op& op) { return cost_of(op, 0); }

// ---- other types ----

Types infer_bitcast(const Op& op) {
  const Type& x = operand(op, 0);
  const DType dtype = op.attributes.get<DType>(Attr::kDtype);
  if (dtype == DType::boolean && x.dtype != dtype) {
    op.fail("Expected another type than bool, which has not every pattern of bits", Error::Kind::kType);
  }
  const int64_t from = size_of(x.dtype), to = size_of(dtype);
  if (!x.shape.ranked() || from == to) return {{dtype, x.shape}};
  if (x.shape.rank() == 0) op.fail("Expected a tensor of rank 1 or more, got " + text(x));
  Dims dims = x.shape.dims();
  if (dims.back() != kUnknown) {
    if (dims.back() * from % to != 0) {
      op.fail("The last dimension of " + text(x) + " does not hold whole elements of " + std::string(name(dtype)));
    }
    dims.back() = dims.back() * from / to;
  }
  return {{dtype, Shape(dims)}};
}

void gradient_bitcast(GradientRule&) {}

Cost cost_bitcast(const Op& op) { return cost_of(op, 0); }

// ---- shapes as values ----

Types infer_shaped(const Op& op) {
  const Type& x = operand(op, 0);
  const bool is_integer = kind(x.dtype) == DTypeKind::kSigned || kind(x.dtype) == DTypeKind::kUnsigned;
  if (!is_integer || (x.shape.ranked() && x.shape.rank() > 1)) {
    op.fail("Expected a shape as a vector of integers, got " + text(x));
  }
  const DType dtype = op.attributes.get<DType>(Attr::kDtype);
  const std::optional<Elements> elements = known_elements(op.operands[0]);
  if (!elements) return {{dtype, Shape::unranked()}};
  Dims dims;
  for (const auto& element : *elements) dims.push_back(element.value_or(kUnknown));
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < kUnknown; })) {
    op.fail("Expected dimensions of 0 or more, got " + text(dims));
  }
  return {{dtype, Shape(dims)}};
}

Types infer_shape_of(const Op& op) {
  const Shape& shape = operand(op, 0).shape;
  return {{DType::int32, Shape({shape.ranked() ? shape.rank() : kUnknown})}};
}

Types infer_count(const Op& op) {
  const Type& x = operand(op, 0);
  if (x.shape.ranked()) axes_of(op, x.shape.rank());
  return {{x.dtype, Shape()}};
}

std::optional<Elements> elements_shape_of(const Op& op, std::span<const std::optional<Elements>>) {
  const Shape& shape = operand(op, 0).shape;
  if (!shape.ranked()) return std::nullopt;
  Elements elements;
  for (int64_t d : shape.dims()) elements.push_back(d == kUnknown ? std::optional<int64_t>() : d);
  return elements;
}

std::optional<Elements> elements_count(const Op& op, std::span<const std::optional<Elements>>) {
  const Shape& shape = operand(op, 0).shape;
  if (!shape.ranked()) return std::nullopt;
  int64_t count = 1;
  for (int64_t axis : axes_of(op, shape.rank())) {
    if (shape[axis] == kUnknown || __builtin_mul_overflow(count, shape[axis], &count)) return std::nullopt;
  }
  return Elements{count};
}

void gradient_shaped(GradientRule&) {}
void gradient_shape_of(GradientRule&) {}
void gradient_count(GradientRule&) {}

Cost cost_shaped(const Op&) { return {}; }
Cost cost_shape_of(const Op& op) { return cost_of(op, 0); }
Cost cost_count(const Op& op) { return cost_of(op, 0); }

}  // namespace alloy::ir
