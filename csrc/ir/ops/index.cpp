// Slices, and ops that take or write elements by indices.
#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/rules/windows.h"

namespace alloy::ir {
namespace {

// The shape of a slice of a tensor, from the attributes of an op or a composite.
template <class Owner>
Shape sliced(const Owner& op, const Shape& shape) {
  const Dims &starts = op.attributes.ints(Attr::kStarts), &ends = op.attributes.ints(Attr::kEnds),
             &strides = op.attributes.ints(Attr::kStrides);
  const int64_t n = starts.size();
  if (ends.size() != n || strides.size() != n) op.fail("Expected as many ends and strides as starts");
  if (std::find(strides.begin(), strides.end(), 0) != strides.end()) op.fail("A stride is 0");
  if (!shape.ranked()) return shape;
  if (n != shape.rank()) {
    op.fail("Expected " + std::to_string(shape.rank()) + " starts for " + text(shape) + ", got " + std::to_string(n));
  }
  Dims dims;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t extent = shape.dims()[i];
    dims.push_back(extent == kUnknown ? kUnknown : resolve_slice(starts[i], ends[i], strides[i], extent).length);
  }
  return Shape(dims);
}

}  // namespace

Types infer_slice(const Op& op) { return {{operand(op, 0).dtype, sliced(op, operand(op, 0).shape)}}; }

Types infer_slice_gradient(const Op& op) {
  const Type &g = operand(op, 0), &like = operand(op, 1);
  const Shape expected = sliced(op, like.shape);
  if (!unify(g.shape, expected)) op.fail("Expected a gradient of " + text(expected) + ", got " + text(g.shape));
  return {{g.dtype, like.shape}};
}

std::optional<Elements> elements_slice(const Op& op, std::span<const std::optional<Elements>> operands) {
  const std::optional<Elements>& from = operands[0];
  if (!from || op.results[0].shape.rank() != 1) return std::nullopt;
  const auto word = [&](Attr attr) { return op.attributes.ints(attr)[0]; };
  const SliceAxis axis = resolve_slice(word(Attr::kStarts), word(Attr::kEnds), word(Attr::kStrides), from->size());
  Elements elements;
  for (int64_t i = 0; i < axis.length; ++i) {
    elements.push_back((*from)[axis.start + i * axis.stride]);
  }
  return elements;
}

void gradient_slice(GradientRule& r) { r.give(0, apply(OpCode::slice_gradient, {r.g(), r.x()}, r.op().attributes)); }
void gradient_slice_gradient(GradientRule& r) { r.give(0, apply(OpCode::slice, {r.g()}, r.op().attributes)); }

// A slice reads only the elements that it takes.
Cost cost_slice(const Op& op) { return {0, op.results[0].byte_count(), op.results[0].byte_count()}; }
Cost cost_slice_gradient(const Op& op) { return cost_of(op, 0); }

// ---- indices in tensors ----

namespace {

void require_indices(const Op& op, size_t i) {
  const DTypeKind numbers = kind(operand(op, i).dtype);
  if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) {
    op.fail("Expected indices of an integer type, got " + text(operand(op, i)), Error::Kind::kType);
  }
}

void require_type_of_data(const Op& op, const Type& data, const Type& updates) {
  if (updates.dtype == data.dtype) return;
  op.fail("Expected updates of the type of the data, " + std::string(name(data.dtype)) + ", got " + text(updates),
          Error::Kind::kType);
}

// The shared leading dimensions of both shapes; at most `most` are allowed.
Dims batch_of(const Op& op, const Shape& elements, const Shape& indices, int64_t most) {
  const int64_t count = op.attributes.integer(Attr::kBatchDims);
  if (count < 0 || count > most) {
    op.fail("Expected 0 to " + std::to_string(most) + " batch dimensions, got " + std::to_string(count));
  }
  const Dims &a = elements.dims(), &b = indices.dims();
  const auto both = unify(Dims(a.begin(), a.begin() + count), Dims(b.begin(), b.begin() + count));
  if (!both) op.fail("Batch dimensions of " + text(elements) + " and of indices " + text(indices) + " differ");
  return both->dims();
}

// The shape of the elements at tuples of indices into x; nothing if a rank or the tuples' length is unknown.
std::optional<Dims> at_tuples(const Op& op, const Shape& x, const Shape& indices) {
  if (indices.ranked() && indices.rank() == 0) op.fail("Expected tuples along the last axis of indices, got a scalar");
  if (!indices.ranked() || !x.ranked()) return std::nullopt;
  Dims dims = batch_of(op, x, indices, std::min(indices.rank() - 1, x.rank()));
  const int64_t batch = dims.size(), tuple = indices[indices.rank() - 1];
  if (tuple == kUnknown) return std::nullopt;
  if (tuple < 1 || batch + tuple > x.rank()) {
    op.fail("Expected tuples of 1 to " + std::to_string(x.rank() - batch) + " indices into " + text(x) +
            ", got indices " + text(indices));
  }
  dims.insert(dims.end(), indices.dims().begin() + batch, indices.dims().end() - 1);
  dims.insert(dims.end(), x.dims().begin() + batch + tuple, x.dims().end());
  return dims;
}

void require_updates(const Op& op, const Shape& updates, const std::optional<Dims>& expected) {
  if (!expected || unify(updates, *expected)) return;
  op.fail("Expected updates of " + text(Shape(*expected)) + ", got " + text(updates));
}

// A permutation that moves `count` axes, from `axis` on, to behind the first `batch` axes.
Dims moved_forward(int64_t rank, int64_t axis, int64_t count, int64_t batch) {
  Dims permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin() + batch, permutation.begin() + axis, permutation.begin() + axis + count);
  return permutation;
}

}  // namespace

Types infer_gather(const Op& op) {
  require_indices(op, 1);
  const auto& [dtype, x] = operand(op, 0);
  const Shape& indices = operand(op, 1).shape;
  if (!x.ranked() || !indices.ranked()) return {{dtype, Shape::unranked()}};
  const int64_t axis = axis_of(op, op.attributes.integer(Attr::kAxis), x.rank());
  Dims dims = batch_of(op, x, indices, std::min(axis, indices.rank()));
  const int64_t batch = dims.size();
  dims.insert(dims.end(), x.dims().begin() + batch, x.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin() + batch, indices.dims().end());
  dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
  return {{dtype, Shape(dims)}};
}

Types infer_gather_nd(const Op& op) {
  require_indices(op, 1);
  const auto& [dtype, x] = operand(op, 0);
  const std::optional<Dims> dims = at_tuples(op, x, operand(op, 1).shape);
  return {{dtype, dims ? Shape(*dims) : Shape::unranked()}};
}

Types infer_scatter_nd(const Op& op) {
  require_indices(op, 1);
  const auto& [dtype, updates] = operand(op, 0);
  const Shape& like = operand(op, 2).shape;
  require_updates(op, updates, at_tuples(op, like, operand(op, 1).shape));
  return {{dtype, like}};
}

Types infer_scatter_nd_update(const Op& op) {
  require_indices(op, 2);
  const Type &data = operand(op, 0), &updates = operand(op, 1);
  require_type_of_data(op, data, updates);
  require_updates(op, updates.shape, at_tuples(op, data.shape, operand(op, 2).shape));
  return {data};
}

// Adds the gradient to the positions that the elements were taken from, along the first axis behind the batch.
void gradient_gather(GradientRule& r) {
  const Shape &x = r.x().shape(), &indices = r.x(1).shape();
  if (!x.ranked() || !indices.ranked()) r.op().fail("The gradient of operands of unknown rank is not available");
  const int64_t batch = r.op().attributes.integer(Attr::kBatchDims),
                axis = axis_of(r.op(), r.op().attributes.integer(Attr::kAxis), x.rank()),
                count = indices.rank() - batch;
  const Expr g = transpose(r.g(), moved_forward(r.g().shape().rank(), axis, count, batch));
  const Expr like = transpose(r.x(), moved_forward(x.rank(), axis, 1, batch));
  const Expr tuples = apply(OpCode::expand_dims, {r.x(1)}, {{Attr::kAxes, Dims{-1}}});
  const Expr scattered = apply(OpCode::scatter_nd, {g, tuples, like}, {{Attr::kBatchDims, batch}});
  r.give(0, transpose(scattered, moved_forward(x.rank(), batch + 1, axis - batch, batch)));
}

namespace {

Expr at_tuples(Expr x, Expr tuples, int64_t batch) {
  return apply(OpCode::gather_nd, {x, tuples}, {{Attr::kBatchDims, batch}});
}

// The gradient of ops on data, updates and indices. `take` gives the data at the indices; `put` combines updates with
// the data there. In the mode "set" the indices must differ, because a replaced update would get a gradient, too.
void gradient_of_updates(GradientRule& r, const std::function<Expr(Expr)>& take,
                         const std::function<Expr(Expr, Expr, const char*)>& put) {
  const std::string& mode = r.op().attributes.word(Attr::kMode);
  const Expr g = r.g(), x = r.x(), update = r.x(1), y = r.y();
  const auto sum_of = [&](Expr e) { return put(broadcast_like(e.scalar(0), x), e, "add"); };
  if (mode == "add" || mode == "subtract") {
    r.give(0, g);
    r.give(1, mode == "add" ? take(g) : -take(g));
  } else if (mode == "set") {
    r.give(0, put(g, broadcast_like(update.scalar(0), update), "set"));
    r.give(1, take(g));
  } else if (mode == "multiply") {
    // An update's gradient needs the product of all other factors. If one of them is 0, the product is 0; if the update
    // is the only 0, it counts as 1.
    const Expr zero = update == 0.0, filled = select(zero, 1.0, update), ones = cast(zero, g.value().dtype());
    r.give(0, put(g, update, "multiply"));
    r.give(1, select(take(sum_of(ones)) == ones, take(g * put(x, filled, "multiply")) / filled, 0.0));
  } else if (mode == "divide") {
    r.give(0, put(g, update, "divide"));
    r.give(1, -take(g * y) / update);
  } else {  // equal elements share the gradient
    const Expr is_data = cast(x == y, g.value().dtype()), is_update = cast(update == take(y), g.value().dtype());
    const Expr share = g / (is_data + sum_of(is_update));
    r.give(0, is_data * share);
    r.give(1, is_update * take(share));
  }
}

}  // namespace

void gradient_gather_nd(GradientRule& r) {
  r.give(0, apply(OpCode::scatter_nd, {r.g(), r.x(1), r.x()}, r.op().attributes));
}

void gradient_scatter_nd(GradientRule& r) {
  r.give(0, at_tuples(r.g(), r.x(1), r.op().attributes.integer(Attr::kBatchDims)));
}

void gradient_scatter_nd_update(GradientRule& r) {
  const Expr tuples = r.x(2);
  const int64_t batch = r.op().attributes.integer(Attr::kBatchDims);
  gradient_of_updates(
      r, [&](Expr x) { return at_tuples(x, tuples, batch); },
      [&](Expr x, Expr updates, const char* mode) {
        return apply(OpCode::scatter_nd_update, {x, updates, tuples},
                     {{Attr::kBatchDims, batch}, {Attr::kMode, std::string(mode)}});
      });
}

// Reads only the elements that it takes.
Cost cost_gather(const Op& op) {
  const uint64_t bytes = op.results[0].byte_count();
  return {0, bytes + operand(op, 1).byte_count(), bytes};
}

Cost cost_gather_nd(const Op& op) { return cost_gather(op); }

// 1 for each element that is added.
Cost cost_scatter_nd(const Op& op) { return cost_of(op, element_count(op.operands[0])); }

// ---- slices by indices ----

Types infer_scatter(const Op& op) {
  const auto& [dtype, x] = operand(op, 0);
  const Type &updates = operand(op, 1), &indices = operand(op, 2);
  require_indices(op, 2);
  if (indices.shape.ranked() && indices.shape.rank() != 1) {
    op.fail("Expected a vector of indices, got " + text(indices));
  }
  require_type_of_data(op, operand(op, 0), updates);
  if (!x.ranked()) return {{dtype, x}};
  Dims expected = x.dims();
  expected[axis_of(op, op.attributes.integer(Attr::kAxis), x.rank())] =
      indices.shape.ranked() ? indices.shape[0] : kUnknown;
  if (!unify(updates.shape, expected)) {
    op.fail("Expected updates of " + text(Shape(expected)) + ", got " + text(updates.shape));
  }
  return {{dtype, x}};
}

void gradient_scatter(GradientRule& r) {
  const Expr indices = r.x(2);
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  gradient_of_updates(
      r, [&](Expr x) { return gather(x, indices, axis); },
      [&](Expr x, Expr updates, const char* mode) {
        return apply(OpCode::scatter, {x, updates, indices}, {{Attr::kAxis, axis}, {Attr::kMode, std::string(mode)}});
      });
}

// 1 for each element that is combined; the data are copied.
Cost cost_scatter(const Op& op) {
  return cost_of(op, op.attributes.word(Attr::kMode) == "set" ? 0 : element_count(op.operands[1]));
}
Cost cost_scatter_nd_update(const Op& op) { return cost_scatter(op); }

// ---- composites ----

// Casts narrow indices to int32, so that they can hold any position.
static Expr positions_in(const Composition& c, Expr indices) {
  const DType dtype = indices.value().dtype();
  if (kind(dtype) != DTypeKind::kSigned && kind(dtype) != DTypeKind::kUnsigned) {
    c.fail("Expected indices of an integer type, got " + text(indices.value().type()), Error::Kind::kType);
  }
  return size_of(dtype) < sizeof(int32_t) ? cast(indices, DType::int32) : indices;
}

Exprs compose_one_hot(const Composition& c) {
  const Expr indices = positions_in(c, c.x());
  const int64_t rank = rank_of(indices) + 1, axis = c.axis_in(rank), depth = c.attributes.integer(Attr::kDepth);
  if (depth < 0) c.fail("Expected a depth of 0 or more, got " + std::to_string(depth));
  const auto dtype = c.attributes.get<DType>(Attr::kDtype);
  c.require_places(depth);
  if (indices.shape().ranked()) {
    Dims dims = indices.shape().dims();
    dims.insert(dims.begin() + axis, depth);
    c.require_room({dtype, Shape(dims)});
  }
  Dims along(rank - axis, 1);
  along[0] = depth;
  const Expr places = reshape(range(c.graph, indices.value().dtype(), depth), along);
  const Expr hit = expand_dims(indices, {axis}) == places;
  if (c.operands.size() == 1) return {cast(hit, dtype)};
  if (c.operands.size() == 2) c.fail("Expected a value for where the index is not, too");
  return {select(hit, c.x(1), c.x(2))};
}

// Selects by a mask instead of adding to zeros, so that a replaced NaN disappears.
Exprs compose_slice_update(const Composition& c) {
  const Expr data = c.x(), update = c.x(1);
  const Shape region = sliced(c, data.shape());
  if (!unify(update.shape(), region)) {
    c.fail("Expected an update of " + text(region) + ", got " + text(update.shape()));
  }
  const auto placed = [&](Expr x) { return apply(OpCode::slice_gradient, {x, data}, c.attributes); };
  const auto one = Literal::splat({DType::int8, Shape()}, 1);
  const Expr ones = broadcast_like(Expr(c.graph, c.graph.value(OpCode::constant, {}, {{Attr::kValue, one}})), update);
  return {select(cast(placed(ones), DType::boolean), placed(update), data)};
}

namespace {

// Checks that both shapes are equal except along the axis.
void require_alike(const Composition& c, Expr x, Expr indices, int64_t axis) {
  Dims expected = x.shape().dims();
  expected[axis] = kUnknown;
  if (unify(indices.shape(), expected)) return;
  c.fail("Expected indices of " + text(Shape(expected)) + ", got " + text(indices.shape()));
}

// Moves the axis to the end, and back.
Expr with_last(Expr x, int64_t axis) {
  Dims permutation = all_axes(x, axis);
  permutation.push_back(axis);
  return transpose(x, permutation);
}
Expr from_last(Expr x, int64_t axis) {
  Dims permutation(rank_of(x));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin() + axis, permutation.end() - 1, permutation.end());
  return transpose(x, permutation);
}

}  // namespace

// All dimensions but the axis become the batch.
Exprs compose_gather_along_axis(const Composition& c) {
  const int64_t axis = c.axis_in(rank_of(c.x())), last = rank_of(c.x()) - 1;
  require_alike(c, c.x(), c.x(1), axis);
  return {from_last(gather(with_last(c.x(), axis), with_last(c.x(1), axis), last, last), axis)};
}

Exprs compose_scatter_along_axis(const Composition& c) {
  const int64_t axis = c.axis_in(rank_of(c.x())), last = rank_of(c.x()) - 1;
  require_alike(c, c.x(), c.x(2), axis);
  const Expr tuples = expand_dims(with_last(c.x(2), axis), {-1});
  return {from_last(apply(OpCode::scatter_nd_update, {with_last(c.x(), axis), with_last(c.x(1), axis), tuples},
                          {{Attr::kBatchDims, last}, {Attr::kMode, c.attributes.word(Attr::kMode)}}),
                    axis)};
}

Exprs compose_scatter_start(const Composition& c) {
  const std::string& mode = c.attributes.word(Attr::kMode);
  const DType dtype = c.x().value().dtype();
  const bool is_factor = mode == "multiply" || mode == "divide";
  const double start = mode == "minimum"   ? greatest(dtype)
                       : mode == "maximum" ? -greatest(dtype)
                                           : static_cast<double>(is_factor);
  return {broadcast_to(c.x().scalar(start), c.attributes.get<Shape>(Attr::kShape))};
}

}  // namespace alloy::ir
