// Poolings and their gradients.
#include <algorithm>
#include <span>

#include "ir/ops/windowed.h"
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/rules/windows.h"
#include "ir/transform/gradients.h"

namespace alloy::ir {
namespace {

// True if the windows do not move along the `axis`-th axis: each element is a window of its own, even if the extent is
// unknown.
bool is_still(const Op& op, int64_t axis) {
  const Window w = window_of(op.attributes, axis, op.attributes.ints(Attr::kWindow)[axis], kUnknown);
  return w.size == 1 && w.stride == 1 && w.before == 0 && w.after == 0;
}

// The shape of the result; of unknown rank if the windows move over the last four axes of a source of unknown rank.
Shape pooled(const Op& op, const Shape& source) {
  if (!source.ranked()) return op.attributes.has(Attr::kDataLayout) ? Shape(Dims(4, kUnknown)) : source;
  const Dims axes = window_axes(op.attributes, source.rank()), &window = op.attributes.ints(Attr::kWindow);
  Dims dims = source.dims();
  for (int64_t i = 0; i < axes.size(); ++i) {
    if (!is_still(op, i)) dims[axes[i]] = window_extent(op, i, window[i], dims[axes[i]], source);
  }
  return Shape(dims);
}

Types infer_pooling(const Op& op) {
  const Type& source = operand(op, 0);
  require_image(op, source, "a source");
  require_window_attributes(op);
  return {{source.dtype, pooled(op, source.shape)}};
}

Types infer_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, pooled(op, source.shape));
  return {{same_dtype(op), source.shape}};
}

}  // namespace

Types infer_max_pool2d(const Op& op) { return infer_pooling(op); }
Types infer_avg_pool2d(const Op& op) { return infer_pooling(op); }
Types infer_max_pool4d(const Op& op) { return infer_pooling(op); }
Types infer_avg_pool4d(const Op& op) { return infer_pooling(op); }
Types infer_max_pool2d_gradient(const Op& op) { return infer_gradient(op); }
Types infer_avg_pool2d_gradient(const Op& op) { return infer_gradient(op); }
Types infer_max_pool4d_gradient(const Op& op) { return infer_gradient(op); }
Types infer_avg_pool4d_gradient(const Op& op) { return infer_gradient(op); }

Types infer_max_pool4d_with_indices(const Op& op) {
  Types types = infer_pooling(op);
  types.push_back({DType::int32, types[0].shape});
  return types;
}

namespace {

// One element of the window along one axis, in all windows: the windows [first, last) have it inside the source, and
// the first of them has it at `start`.
struct Tap {
  int64_t first, last, start, stride;
};

std::vector<Tap> taps_of(const Window& w, int64_t windows, int64_t extent) {
  std::vector<Tap> taps;
  const int64_t before = w.before - (windows - 1) * w.stride;  // of the last window; earlier taps are never inside
  for (int64_t k = std::max<int64_t>(before / w.dilation, 0); k < w.size; ++k) {
    const int64_t origin = k * w.dilation - w.before;  // position in window 0
    if (origin >= extent) break;
    const int64_t first = origin < 0 ? (-origin + w.stride - 1) / w.stride : 0;
    const int64_t last = origin < extent ? std::min((extent - 1 - origin) / w.stride + 1, windows) : 0;
    if (first < last) taps.push_back({first, last, origin + first * w.stride, w.stride});
  }
  return taps;
}

// The gradient of a maximum pooling's gradient, which is linear in the incoming gradient: for every window, the element
// of `given` at the position of the window's maximum. It goes through the taps of the window, for all windows at once,
// and takes the element of `given` whenever the source's element is greater.
class AtMaxima {
 public:
  AtMaxima(const Op& op, Expr pooled, Expr source) : pooled_(pooled), source_(source) {
    const Shape &x = source.shape(), &y = pooled.shape();
    if (!x.ranked() || !y.ranked()) op.fail("The gradient of a tensor of unknown rank is not available");
    const Dims& window = op.attributes.ints(Attr::kWindow);
    const Dims axes = window_axes(op.attributes, x.rank());
    const bool is_image = axes.size() == 2;
    for (int64_t i = 0; i < axes.size(); ++i) {
      if (is_still(op, i)) continue;
      if (x[axes[i]] == kUnknown || y[axes[i]] == kUnknown) {
        op.fail(is_image ? "The gradient of images of unknown height or width is not available"
                         : "The gradient along an axis of unknown extent is not available");
      }
      axes_.push_back(axes[i]);
      extents_.push_back(y[axes[i]]);
      taps_.push_back(taps_of(window_of(op.attributes, i, window[i], x[axes[i]]), y[axes[i]], x[axes[i]]));
      tap_count_ *= std::ssize(taps_.back());
    }
  }

  Expr of(Expr given) {
    // Marks the windows for which this tap is the first inside the source, and the others that have it inside.
    const int64_t windows = Shape(extents_).element_count();
    std::vector<float> begins(windows), goes_on = begins;
    std::vector<bool> begun(windows, false);
    Expr greatest, taken;
    for (int64_t n = 0; n < tap_count_; ++n) {
      const Dims taps = digits(n);
      for (int64_t i = 0; i < windows; ++i) {
        const bool sees = is_inside(taps, i);
        begins[i] = sees && !begun[i];
        goes_on[i] = sees && begun[i];
        begun[i] = begun[i] || sees;
      }
      const Expr v = seen(source_, taps), at = seen(given, taps);
      if (!greatest) {
        greatest = v;
        taken = at;
        continue;
      }
      const auto number = [&](Expr truth) { return cast(truth, v.value().dtype()); };
      const Expr is_new_nan = number(not_equal(v, v)) * number(greatest == greatest);
      const Expr wins = of_windows(begins) + of_windows(goes_on) * (number(v > greatest) + is_new_nan) > 0.0;
      greatest = select(wins, v, greatest);
      taken = select(wins, at, taken);
    }
    return taken;
  }

 private:
  const Tap& tap(const Dims& taps, int64_t axis) const { return taps_[axis][taps[axis]]; }

  // The `n`-th combination of taps, one for each axis.
  Dims digits(int64_t n) const {
    Dims taps(axes_.size());
    for (int64_t i = axes_.size() - 1; i >= 0; --i) {
      taps[i] = n % std::ssize(taps_[i]);
      n /= std::ssize(taps_[i]);
    }
    return taps;
  }

  bool is_inside(const Dims& taps, int64_t window) const {
    for (int64_t i = axes_.size() - 1; i >= 0; window /= extents_[i--]) {
      const int64_t at = window % extents_[i];
      if (at < tap(taps, i).first || at >= tap(taps, i).last) return false;
    }
    return true;
  }

  // The elements of `x` at these taps, one for each window; 0 outside the source.
  Expr seen(Expr x, const Dims& taps) const {
    const int64_t rank = source_.shape().rank();
    Dims starts(rank, 0), ends(rank, kSliceToEnd), strides(rank, 1), firsts(rank, 0), lasts(rank, kSliceToEnd);
    bool everywhere = true;
    for (int64_t i = 0; i < axes_.size(); ++i) {
      const Tap& one = tap(taps, i);
      const int64_t axis = axes_[i];
      starts[axis] = one.start;
      ends[axis] = one.start + (one.last - one.first - 1) * one.stride + 1;
      strides[axis] = one.stride;
      firsts[axis] = one.first;
      lasts[axis] = one.last;
      everywhere = everywhere && one.last - one.first == extents_[i];
    }
    const Attributes from{{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}};
    const Attributes to{{Attr::kStarts, firsts}, {Attr::kEnds, lasts}, {Attr::kStrides, Dims(rank, 1)}};
    const Expr inside = apply(OpCode::slice, {x}, from);
    return everywhere ? inside : apply(OpCode::slice_gradient, {inside, pooled_}, to);
  }

  Expr of_windows(const std::vector<float>& numbers) const {
    Dims dims(source_.shape().rank(), 1);
    for (int64_t i = 0; i < axes_.size(); ++i) dims[axes_[i]] = extents_[i];
    const Type type{DType::float32, Shape(dims)};
    const auto literal = std::make_shared<Literal>(type, std::as_bytes(std::span(numbers)));
    Graph& graph = source_.graph();
    return cast(Expr(graph, graph.value(OpCode::constant, {}, {{Attr::kValue, literal}})), source_.value().dtype());
  }

  Expr pooled_, source_;
  Dims axes_, extents_;  // the axes that windows move along, and the number of windows along each
  std::vector<std::vector<Tap>> taps_;
  int64_t tap_count_ = 1;
};

void differentiate(GradientRule& r, OpCode gradient, Attributes attributes) {
  if (r.g()) r.give(0, apply(gradient, {r.g(), r.x()}, std::move(attributes)));
}

void differentiate(GradientRule& r, OpCode gradient) { differentiate(r, gradient, r.op().attributes); }

void differentiate_max_gradient(GradientRule& r) {
  if (r.wants(0)) r.give(0, AtMaxima(r.op(), r.x(0), r.x(1)).of(r.g()));
}

void differentiate_avg_gradient(GradientRule& r, OpCode forward) {
  r.give(0, apply(forward, {r.g()}, r.op().attributes));
}

}  // namespace

void gradient_max_pool2d(GradientRule& r) { differentiate(r, OpCode::max_pool2d_gradient); }
void gradient_avg_pool2d(GradientRule& r) { differentiate(r, OpCode::avg_pool2d_gradient); }
void gradient_max_pool4d(GradientRule& r) { differentiate(r, OpCode::max_pool4d_gradient); }
void gradient_avg_pool4d(GradientRule& r) { differentiate(r, OpCode::avg_pool4d_gradient); }
void gradient_max_pool2d_gradient(GradientRule& r) { differentiate_max_gradient(r); }
void gradient_max_pool4d_gradient(GradientRule& r) { differentiate_max_gradient(r); }
void gradient_avg_pool2d_gradient(GradientRule& r) { differentiate_avg_gradient(r, OpCode::avg_pool2d); }
void gradient_avg_pool4d_gradient(GradientRule& r) { differentiate_avg_gradient(r, OpCode::avg_pool4d); }

void gradient_max_pool4d_with_indices(GradientRule& r) {
  differentiate(r, OpCode::max_pool4d_gradient, r.op().attributes.without(Attr::kIndicesMode));
}

namespace {

Cost window_cost(const Op& op, const Value& windows) {
  const Dims& window = op.attributes.ints(Attr::kWindow);
  return cost_of(op, element_count(windows) * static_cast<uint64_t>(Shape(window).element_count()));
}

}  // namespace

Cost cost_max_pool2d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_avg_pool2d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_max_pool4d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_avg_pool4d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_max_pool4d_with_indices(const Op& op) { return window_cost(op, op.result()); }
Cost cost_max_pool2d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }
Cost cost_avg_pool2d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }
Cost cost_max_pool4d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }
Cost cost_avg_pool4d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }

// ---- composites ----

namespace {

// Computed as a mean that counts padding, times the window's extent.
Expr l2_pooled(const Composition& c, Expr x) {
  Attributes attributes = c.attributes;
  Dims padding = attributes.ints(Attr::kPadding);
  const Dims &strides = attributes.ints(Attr::kStrides), &window = attributes.ints(Attr::kWindow);
  const bool is_valid = attributes.word(Attr::kPaddingStyle) == "valid";
  if (attributes.flag(Attr::kCeilMode) && (is_valid || attributes.word(Attr::kPaddingStyle) == "explicit") &&
      padding.size() == 8 && strides.size() == 4) {
    for (int64_t i = 0; i < 4; ++i) padding[2 * i + 1] = (is_valid ? 0 : padding[2 * i + 1]) + strides[i] - 1;
    for (int64_t i = 0; is_valid && i < 4; ++i) padding[2 * i] = 0;
    attributes.set(Attr::kPadding, padding);
    attributes.set(Attr::kPaddingStyle, std::string("explicit"));
  }
  attributes.set(Attr::kCeilMode, false);
  attributes.set(Attr::kIncludePadding, true);
  const Expr squares =
      apply(OpCode::avg_pool4d, {x * x}, attributes) * static_cast<double>(Shape(window).element_count());
  // The root's slope at 0 is infinite.
  const Expr is_zero = squares == 0.0;
  return select(is_zero, 0.0, sqrt(select(is_zero, 1.0, squares)));
}

}  // namespace

Exprs compose_l2_pool4d(const Composition& c) {
  return {rounded_once([&](Expr x) { return l2_pooled(c, x); }, c.x())};
}

Exprs compose_l2_pool4d_gradient(const Composition& c) {
  return {rounded_adjoint(c.x(0), c.x(1), [&](Expr x) { return l2_pooled(c, x); })};
}

namespace {

// Turns indices in windows into indices in the source, row-major over its last `axes` axes.
Expr global_places(const Composition& c, Expr indices, const Shape& source, int64_t axes) {
  const Dims& window = c.attributes.ints(Attr::kWindow);
  const Shape& results = indices.shape();
  const int64_t rank = source.rank();
  Expr places;
  int64_t step = 1, taps = 1;  // distances of neighbours along the axis, in the source and in the window
  for (int64_t i = 3; i >= 4 - axes; --i) {
    const int64_t axis = rank - 4 + i, extent = source[axis], count = results[axis];
    const Window w = window_of(c.attributes, i, window[i], extent);
    c.require_places(count);
    // The tap along this axis is the index divided by `taps`, modulo the window's extent.
    Expr tap = indices / static_cast<double>(taps);
    if (i > 4 - axes) tap = tap - (tap / static_cast<double>(window[i])) * static_cast<double>(window[i]);
    std::vector<int64_t> origins;
    for (int64_t position = 0; position < count; ++position) origins.push_back((position * w.stride - w.before) * step);
    Dims along(rank - axis, 1);
    along[0] = count;
    const Expr place =
        tap * static_cast<double>(w.dilation * step) + integers(c.graph, indices.value().dtype(), along, origins);
    places = places ? places + place : place;
    step *= extent;
    taps *= window[i];
  }
  return places;
}

}  // namespace

// Each index is a position in the last axes only; before those axes, windows must not move.
Exprs compose_max_pool4d_gradient_with_indices(const Composition& c) {
  const Expr g = c.x(0), indices = c.x(1), like = c.x(2);
  const PoolIndices kind = PoolIndices::of(c.attributes.word(Attr::kIndicesMode));
  const int64_t rank = rank_of(like);
  if (rank < 4 || rank_of(g) != rank || !unify(g.shape(), indices.shape())) {
    c.fail("Expected an incoming gradient and indices of one shape of rank 4 or more, got " + text(g.shape()) +
           " and " + text(indices.shape()) + " for a source of " + text(like.shape()));
  }
  const Dims& window = c.attributes.ints(Attr::kWindow);
  Dims slab(like.shape().dims().end() - kind.axes, like.shape().dims().end()),
      windows(g.shape().dims().end() - kind.axes, g.shape().dims().end());
  if (!Shape(slab).is_static() || !Shape(windows).is_static()) {
    c.fail("Expected known extents along the axes that indices tell, got " + text(like.shape()));
  }
  for (int64_t i = 0; i < rank - kind.axes; ++i) {
    const int64_t k = i - (rank - 4), before = like.shape()[i], after = g.shape()[i];
    const bool moves = k >= 0 && (window[k] != 1 || c.attributes.ints(Attr::kStrides)[k] != 1);
    if (moves || (before != kUnknown && after != kUnknown && before != after)) {
      c.fail("Indices over the last " + std::to_string(kind.axes) + " axes do not tell where windows over others are");
    }
  }
  const Expr places = kind.are_local ? global_places(c, indices, like.shape(), kind.axes) : indices;
  const Shape outer(Dims(like.shape().dims().begin(), like.shape().dims().end() - kind.axes));
  const int64_t count = outer.is_static() ? outer.element_count() : kUnknown;
  const int64_t from = Shape(windows).element_count(), to = Shape(slab).element_count();
  const Expr scattered = apply(
      OpCode::scatter_nd, {reshape(g, {count, from}), reshape(places, {count, from, 1}), reshape(like, {count, to})},
      {{Attr::kBatchDims, int64_t{1}}});
  return {reshape_like(scattered, like)};
}

}  // namespace alloy::ir
