// Taking elements by their places.
#include <algorithm>

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

}  // namespace alloy::ir
