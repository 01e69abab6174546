#include "ir/shape.h"

#include <algorithm>

namespace alloy::ir {

Shape Shape::unranked() {
  Shape shape;
  shape.dims_.reset();
  return shape;
}

bool Shape::is_static() const {
  return ranked() && std::none_of(dims_->begin(), dims_->end(), [](int64_t d) { return d == kUnknown; });
}

int64_t Shape::element_count() const {
  int64_t count = 1;
  for (int64_t d : *dims_) count *= d;
  return count;
}

bool Type::is_addressable() const {
  constexpr int64_t kLimit = int64_t{1} << 48;
  auto bytes = static_cast<int64_t>(size_of(dtype));
  for (int64_t d : shape.ranked() ? shape.dims() : Dims()) {
    if (d == kUnknown) continue;
    if (d < 0 || d >= kLimit || __builtin_mul_overflow(bytes, d, &bytes) || bytes >= kLimit) return false;
  }
  return true;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked()) return Shape::unranked();
  const Dims& longer = a.rank() >= b.rank() ? a.dims() : b.dims();
  const Dims& shorter = a.rank() >= b.rank() ? b.dims() : a.dims();
  Dims out = longer;
  const size_t offset = longer.size() - shorter.size();
  for (int64_t i = 0; i < shorter.size(); ++i) {
    int64_t& d = out[offset + i];
    const int64_t e = shorter[i];
    if (d == e || e == 1) continue;
    if (d == 1 || d == kUnknown) {
      d = e;
    } else if (e != kUnknown) {
      return std::nullopt;
    }
  }
  return Shape(out);
}

std::optional<Shape> unify(const Shape& a, const Shape& b) {
  if (!a.ranked()) return b;
  if (!b.ranked()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  Dims out = a.dims();
  for (int64_t i = 0; i < out.size(); ++i) {
    if (out[i] == kUnknown) {
      out[i] = b.dims()[i];
    } else if (b.dims()[i] != kUnknown && b.dims()[i] != out[i]) {
      return std::nullopt;
    }
  }
  return Shape(out);
}

Shape shape_of_rows(const Shape& shape) {
  Dims dims = shape.dims();
  dims[dims.size() - 1] = 1;
  return dims;
}

std::optional<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::string to_string(const Shape& shape) {
  if (!shape.ranked()) return "(...)";
  std::string text = "(";
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kUnknown ? "?" : std::to_string(shape[i]);
  }
  if (shape.rank() == 1) text += ",";
  return text + ")";
}

std::string to_string(const Type& type) { return std::string(name(type.dtype)) + to_string(type.shape); }

}  // namespace alloy::ir
