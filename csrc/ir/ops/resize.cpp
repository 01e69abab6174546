// Resized images.
#include <algorithm>
#include <cmath>
#include <span>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/transform/gradients.h"

namespace alloy::ir {
namespace {

// For each position of the result along one axis, the position in the source.
std::vector<double> places_by_flags(const Composition& c, int64_t from, int64_t to) {
  const auto in = static_cast<double>(from), out = static_cast<double>(to);
  std::vector<double> places;
  for (int64_t i = 0; i < to; ++i) {
    const auto d = static_cast<double>(i);
    if (c.attributes.flag(Attr::kAlignCorners)) places.push_back(to > 1 ? d * (in - 1) / (out - 1) : 0);
    else if (c.attributes.flag(Attr::kCenter)) places.push_back((2 * d + 1) * in / (2 * out) - 0.5);
    else places.push_back(d * in / out);
  }
  return places;
}

// The same by a scale and an offset: position p of the source is at p * scale + offset in the result.
std::vector<double> places_by_scale(int64_t to, double scale, double offset) {
  std::vector<double> places;
  for (int64_t i = 0; i < to; ++i) places.push_back((static_cast<double>(i) - offset) / scale);
  return places;
}

double rounded(double place, const std::string& rounding) {
  if (rounding == "round_prefer_ceil") return std::floor(place + 0.5);
  if (rounding == "round_prefer_floor") return std::ceil(place - 0.5);
  if (rounding == "ceil") return std::ceil(place);
  if (rounding == "floor") return std::floor(place);
  const double below = std::floor(place), part = place - below;
  if (part != 0.5) return std::floor(place + 0.5);
  const bool below_is_even = std::fmod(below, 2) == 0;
  return below_is_even == (rounding == "round_to_even") ? below : below + 1;
}

// The nearest elements of x to the positions along an axis; outside, the element at the edge.
Expr nearest(Expr x, int64_t axis, const std::vector<double>& places, const std::string& rounding) {
  std::vector<int64_t> indices;
  for (double place : places) {
    const double last = static_cast<double>(x.shape()[axis] - 1);
    indices.push_back(static_cast<int64_t>(std::clamp(rounded(place, rounding), 0.0, last)));
  }
  return gather(x, integers(x.graph(), DType::int32, {std::ssize(indices)}, indices), axis, 0);
}

// Interpolates between the two elements around each position.
Expr interpolated(Expr x, int64_t axis, const std::vector<double>& places) {
  const int64_t last = x.shape()[axis] - 1, count = std::ssize(places);
  std::vector<int64_t> below, above;
  std::vector<float> weights;
  for (double place : places) {
    const double inside = std::clamp(place, 0.0, static_cast<double>(last));
    below.push_back(static_cast<int64_t>(inside));
    above.push_back(std::min(below.back() + 1, last));
    weights.push_back(static_cast<float>(inside - std::floor(inside)));
  }
  const auto at = [&](const std::vector<int64_t>& indices) {
    return gather(x, integers(x.graph(), DType::int32, {count}, indices), axis, 0);
  };
  Dims along(x.shape().rank() - axis, 1);
  along[0] = count;
  const Type type{DType::float32, Shape(along)};
  const auto literal = std::make_shared<Literal>(type, std::as_bytes(std::span(weights)));
  const Expr constant(x.graph(), x.graph().value(OpCode::constant, {}, {{Attr::kValue, literal}}));
  const Expr weight = cast(constant, x.value().dtype()), low = at(below);
  return low + (at(above) - low) * weight;
}

// The elements of the operands from `first` on, which must be constants: a scale for each axis, then an offset for
// each.
std::vector<double> scales_and_offsets(const Composition& c, size_t first, int64_t axes) {
  std::vector<double> numbers;
  for (size_t i = first; i < c.operands.size(); ++i) {
    const Op& op = *c.operands[i].op;
    if (op.code != OpCode::constant) c.fail("Expected scales and offsets that are constants");
    const LiteralRef& literal = op.attributes.get<LiteralRef>(Attr::kValue);
    for (int64_t k = 0; k < literal->type().shape.element_count(); ++k) numbers.push_back(literal->at(k));
  }
  if (std::ssize(numbers) != 2 * axes) {
    c.fail("Expected a scale and an offset for each of " + std::to_string(axes) + " axes, got " +
           std::to_string(numbers.size()) + " numbers");
  }
  for (int64_t i = 0; i < axes; ++i) {
    if (!(numbers[i] > 0) || std::isinf(numbers[i])) {
      c.fail("Expected scales above 0, got " + std::to_string(numbers[i]));
    }
  }
  return numbers;
}

// Resizes the axes to `sizes`. Scales are the operands from `first_scale` on, if there are any.
Expr resized(const Composition& c, Expr x, const Dims& sizes, size_t first_scale) {
  const Dims& axes = c.attributes.ints(Attr::kAxes);
  if (sizes.size() != axes.size()) {
    c.fail("Expected " + std::to_string(axes.size()) + " extents, got " + text(sizes));
  }
  const bool is_scaled = first_scale < c.operands.size();
  const std::vector<double> scales =
      is_scaled ? scales_and_offsets(c, first_scale, axes.size()) : std::vector<double>();
  const Shape source = x.shape();
  Dims dims = source.dims();
  const auto stays = [&](int64_t i, int64_t axis) {
    return source[axis] == sizes[i] && (!is_scaled || (scales[i] == 1 && scales[i + axes.size()] == 0));
  };
  for (int64_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = c.axis_in(axes[i], source.rank());
    if (stays(i, axis)) continue;
    if (source[axis] < 1 || sizes[i] < 1) {
      c.fail("Expected known extents of 1 or more, got " + text(source) + " to become " + text(sizes));
    }
    c.require_places(sizes[i]);
    dims[axis] = sizes[i];
  }
  c.require_room({x.value().dtype(), Shape(dims)});
  for (int64_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = c.axis_in(axes[i], source.rank()), to = sizes[i];
    if (stays(i, axis)) continue;
    const std::vector<double> places =
        is_scaled ? places_by_scale(to, scales[i], scales[i + axes.size()]) : places_by_flags(c, source[axis], to);
    x = c.attributes.word(Attr::kResizeMode) == "bilinear"
            ? interpolated(x, axis, places)
            : nearest(x, axis, places, c.attributes.word(Attr::kRounding));
  }
  return x;
}

}  // namespace

Exprs compose_resize(const Composition& c) {
  const auto work = [&](Expr x) { return resized(c, x, c.attributes.ints(Attr::kSize), 1); };
  const bool is_moved = c.attributes.word(Attr::kResizeMode) != "bilinear";
  return {identity(is_moved ? work(c.x()) : rounded_once(work, c.x()))};
}

Exprs compose_resize_gradient(const Composition& c) {
  const Shape& shape = c.x(0).shape();
  Dims sizes;
  for (int64_t axis : c.attributes.ints(Attr::kAxes)) {
    const auto at = normalize_axis(axis, rank_of(c.x(0)));
    sizes.push_back(at ? shape[*at] : kUnknown);
  }
  return {rounded_adjoint(c.x(0), c.x(1), [&](Expr x) { return resized(c, x, sizes, 2); })};
}

}  // namespace alloy::ir
