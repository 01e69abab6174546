// Taking elements by their places.
#include <algorithm>
#include <numeric>

#include "ir/composites.h"
#include "ir/rules.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

Shape sliced(const Op& op, const Shape& shape) {
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

// A slice reads what it takes.
Cost cost_slice(const Op& op) { return {0, op.results[0].byte_count(), op.results[0].byte_count()}; }
Cost cost_slice_gradient(const Op& op) { return cost_of(op, 0); }

// ---- indices in tensors ----

namespace {

void require_indices(const Op& op) {
  const DTypeKind numbers = kind(operand(op, 1).dtype);
  if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) {
    op.fail("Expected indices of an integer type, got " + text(operand(op, 1)), Error::Kind::kType);
  }
}

// The leading dimensions of both, of which there are at most `most`.
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

// 0, 1, ... with the axes from `axis` on, `count` of them, moved to behind the first `batch`.
Dims moved_forward(int64_t rank, int64_t axis, int64_t count, int64_t batch) {
  Dims permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::rotate(permutation.begin() + batch, permutation.begin() + axis, permutation.begin() + axis + count);
  return permutation;
}

}  // namespace

Types infer_gather(const Op& op) {
  require_indices(op);
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

Types infer_scatter_nd(const Op& op) {
  require_indices(op);
  const auto& [dtype, updates] = operand(op, 0);
  const Shape &indices = operand(op, 1).shape, &like = operand(op, 2).shape;
  if (indices.ranked() && indices.rank() == 0) op.fail("Expected tuples along the last axis of indices, got a scalar");
  if (!indices.ranked() || !like.ranked()) return {{dtype, like}};
  Dims expected = batch_of(op, like, indices, std::min(indices.rank() - 1, like.rank()));
  const int64_t batch = expected.size(), tuple = indices[indices.rank() - 1];
  if (tuple == kUnknown) return {{dtype, like}};
  if (tuple < 1 || batch + tuple > like.rank()) {
    op.fail("Expected tuples of 1 to " + std::to_string(like.rank() - batch) + " indices into " + text(like) +
            ", got indices " + text(indices));
  }
  expected.insert(expected.end(), indices.dims().begin() + batch, indices.dims().end() - 1);
  expected.insert(expected.end(), like.dims().begin() + batch + tuple, like.dims().end());
  if (!unify(updates, expected)) op.fail("Expected updates of " + text(Shape(expected)) + ", got " + text(updates));
  return {{dtype, like}};
}

// What flows back is added where it was taken from, along the first axis behind the batch.
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

void gradient_scatter_nd(GradientRule& r) {
  const Shape& indices = r.x(1).shape();
  if (!indices.ranked()) r.op().fail("The gradient of indices of unknown rank is not available");
  if (indices[indices.rank() - 1] == kUnknown) r.op().fail("The gradient of tuples of unknown length is not available");
  if (indices[indices.rank() - 1] != 1) r.op().fail("The gradient of tuples of several indices is not available");
  const int64_t batch = r.op().attributes.integer(Attr::kBatchDims);
  const Expr numbers = apply(OpCode::squeeze, {r.x(1)}, {{Attr::kAxes, Dims{-1}}});
  r.give(0, apply(OpCode::gather, {r.g(), numbers}, {{Attr::kAxis, batch}, {Attr::kBatchDims, batch}}));
}

// It reads what it takes.
Cost cost_gather(const Op& op) {
  const uint64_t bytes = op.results[0].byte_count();
  return {0, bytes + operand(op, 1).byte_count(), bytes};
}

// 1 for each element that is added.
Cost cost_scatter_nd(const Op& op) { return cost_of(op, element_count(op.operands[0])); }

// ---- slices put where indices tell ----

Types infer_scatter(const Op& op) {
  const auto& [dtype, x] = operand(op, 0);
  const Type &updates = operand(op, 1), &indices = operand(op, 2);
  const DTypeKind numbers = kind(indices.dtype);
  if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) {
    op.fail("Expected indices of an integer type, got " + text(indices), Error::Kind::kType);
  }
  if (indices.shape.ranked() && indices.shape.rank() != 1) {
    op.fail("Expected a vector of indices, got " + text(indices));
  }
  if (updates.dtype != dtype) {
    op.fail("Expected updates of the type of the data, " + std::string(name(dtype)) + ", got " + text(updates),
            Error::Kind::kType);
  }
  if (!x.ranked()) return {{dtype, x}};
  Dims expected = x.dims();
  expected[axis_of(op, op.attributes.integer(Attr::kAxis), x.rank())] =
      indices.shape.ranked() ? indices.shape[0] : kUnknown;
  if (!unify(updates.shape, expected)) {
    op.fail("Expected updates of " + text(Shape(expected)) + ", got " + text(updates.shape));
  }
  return {{dtype, x}};
}

// Where slices replace others, the indices must differ: a replaced slice would get the gradient, too.
void gradient_scatter(GradientRule& r) {
  const Attributes& attributes = r.op().attributes;
  const std::string& mode = attributes.word(Attr::kMode);
  const Expr taken = gather(r.g(), r.x(2), attributes.integer(Attr::kAxis));
  if (mode == "set") {
    const Expr nothing = broadcast_like(r.x(1).scalar(0), r.x(1));
    r.give(0, apply(OpCode::scatter, {r.g(), nothing, r.x(2)}, attributes));
    r.give(1, taken);
  } else if (mode == "add" || mode == "subtract") {
    r.give(0, r.g());
    r.give(1, mode == "add" ? taken : -taken);
  } else {
    r.op().fail("The gradient of the mode " + mode + " is not available");
  }
}

// 1 for each element that is combined; the data are copied.
Cost cost_scatter(const Op& op) {
  return cost_of(op, op.attributes.word(Attr::kMode) == "set" ? 0 : element_count(op.operands[1]));
}

// ---- composites ----

// Integers in which any position can be told, also where those given are of a narrow type.
static Expr positions_in(const Composition& c, Expr indices) {
  const DType dtype = indices.value().dtype();
  if (kind(dtype) != DTypeKind::kSigned && kind(dtype) != DTypeKind::kUnsigned) {
    c.fail("Expected indices of an integer type, got " + text(indices.value().type()), Error::Kind::kType);
  }
  return size_of(dtype) < sizeof(int32_t) ? cast(indices, DType::int32) : indices;
}

Exprs compose_one_hot(const Composition& c) {
  const Expr indices = positions_in(c, c.x());
  const int64_t rank = rank_of(indices) + 1, depth = c.attributes.integer(Attr::kDepth);
  const auto axis = normalize_axis(c.attributes.integer(Attr::kAxis), rank);
  if (!axis) {
    c.fail("Axis " + std::to_string(c.attributes.integer(Attr::kAxis)) + " is outside a tensor of rank " +
           std::to_string(rank));
  }
  if (depth < 0) c.fail("Expected a depth of 0 or more, got " + std::to_string(depth));
  Dims along(rank - *axis, 1);
  along[0] = depth;
  const Expr places = reshape(range(c.graph, indices.value().dtype(), depth), along);
  const Expr hit = expand_dims(indices, {*axis}) == places;
  const auto dtype = c.attributes.get<DType>(Attr::kDtype);
  if (c.operands.size() == 1) return {cast(hit, dtype)};
  if (c.operands.size() == 2) c.fail("Expected a value for where the index is not, too");
  return {select(hit, c.x(1), c.x(2))};
}

}  // namespace alloy::ir
