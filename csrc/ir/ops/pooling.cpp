// Poolings and their gradients.
#include <algorithm>
#include <span>

#include "ir/ops/windowed.h"
#include "ir/rules.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

Shape pooled(const Op& op, const Shape& source) {
  if (!source.ranked()) return Shape({kUnknown, kUnknown, kUnknown, kUnknown});
  const LayoutAxes x = LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const Dims& window = op.attributes.ints(Attr::kWindow);
  Dims dims = source.dims();
  auto& height = dims[x.height];
  auto& width = dims[x.width];
  height = window_extent(op, 0, window[0], height, source);
  width = window_extent(op, 1, window[1], width, source);
  return Shape(dims);
}

}  // namespace

Types infer_max_pool2d(const Op& op) {
  const Type& source = operand(op, 0);
  require_image(op, source, "a source");
  require_window_attributes(op);
  return {{source.dtype, pooled(op, source.shape)}};
}
Types infer_avg_pool2d(const Op& op) { return infer_max_pool2d(op); }

Types infer_max_pool2d_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, pooled(op, source.shape));
  return {{same_dtype(op), source.shape}};
}
Types infer_avg_pool2d_gradient(const Op& op) { return infer_max_pool2d_gradient(op); }

void gradient_max_pool2d(GradientRule& r) {
  r.give(0, apply(OpCode::max_pool2d_gradient, {r.g(), r.x()}, r.op().attributes));
}

namespace {

// One element of a pooling window along one axis, the same in every window: which windows, [first, last), have it
// inside the source, and where the first of those finds it.
struct Tap {
  int64_t first, last, start, stride;
};

std::vector<Tap> taps_of(const Window& w, int64_t windows, int64_t extent) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < w.size; ++k) {
    const int64_t origin = k * w.dilation - w.before;  // of window 0
    const int64_t first = origin < 0 ? (-origin + w.stride - 1) / w.stride : 0;
    const int64_t last = origin < extent ? std::min((extent - 1 - origin) / w.stride + 1, windows) : 0;
    if (first < last) taps.push_back({first, last, origin + first * w.stride, w.stride});
  }
  return taps;
}

// The op is linear in the incoming gradient. Its adjoint takes, for every window, the element at the place of the
// window's maximum: windows are walked through element by element, all at once, and whenever one is greater, what
// stands at its place is taken.
class AtMaxima {
 public:
  AtMaxima(const Op& op, Expr pooled, Expr source)
      : pooled_(pooled), source_(source), axes_(LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout))) {
    const Shape &x = source.shape(), &y = pooled.shape();
    for (const Shape* s : {&x, &y}) {
      if (s->ranked() && (*s)[axes_.height] != kUnknown && (*s)[axes_.width] != kUnknown) continue;
      op.fail("The gradient of images of unknown height or width is not available");
    }
    height_ = y[axes_.height];
    width_ = y[axes_.width];
    const Dims& window = op.attributes.ints(Attr::kWindow);
    rows_ = taps_of(window_of(op.attributes, 0, window[0], x[axes_.height]), height_, x[axes_.height]);
    columns_ = taps_of(window_of(op.attributes, 1, window[1], x[axes_.width]), width_, x[axes_.width]);
  }

  Expr of(Expr given) {
    // Which windows come to their first element, and which to another one.
    std::vector<float> begins(height_ * width_), goes_on = begins;
    std::vector<bool> begun(begins.size(), false);
    Expr greatest, taken;
    for (const Tap& row : rows_) {
      for (const Tap& column : columns_) {
        for (int64_t i = 0; i < height_ * width_; ++i) {
          const int64_t y = i / width_, x = i % width_;
          const bool inside = y >= row.first && y < row.last && x >= column.first && x < column.last;
          begins[i] = inside && !begun[i];
          goes_on[i] = inside && begun[i];
          begun[i] = begun[i] || inside;
        }
        const Expr v = seen(source_, row, column), at = seen(given, row, column);
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
    }
    return taken;
  }

 private:
  // What every window sees of `x` there; 0 where that lies outside.
  Expr seen(Expr x, const Tap& row, const Tap& column) const {
    Dims starts(4, 0), ends(4, kSliceToEnd), strides(4, 1), firsts(4, 0), lasts(4, kSliceToEnd);
    const std::pair<int64_t, const Tap&> axes[] = {{axes_.height, row}, {axes_.width, column}};
    for (const auto& [axis, tap] : axes) {
      starts[axis] = tap.start;
      ends[axis] = tap.start + (tap.last - tap.first - 1) * tap.stride + 1;
      strides[axis] = tap.stride;
      firsts[axis] = tap.first;
      lasts[axis] = tap.last;
    }
    const Attributes from{{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}};
    const Attributes to{{Attr::kStarts, firsts}, {Attr::kEnds, lasts}, {Attr::kStrides, Dims(4, 1)}};
    const Expr inside = apply(OpCode::slice, {x}, from);
    const bool everywhere = row.last - row.first == height_ && column.last - column.first == width_;
    return everywhere ? inside : apply(OpCode::slice_gradient, {inside, pooled_}, to);
  }

  Expr of_windows(const std::vector<float>& numbers) const {
    Dims dims(4, 1);
    dims[axes_.height] = height_;
    dims[axes_.width] = width_;
    const Type type{DType::float32, Shape(dims)};
    const auto literal = std::make_shared<Literal>(type, std::as_bytes(std::span(numbers)));
    Graph& graph = source_.graph();
    return cast(Expr(graph, graph.value(OpCode::constant, {}, {{Attr::kValue, literal}})), source_.value().dtype());
  }

  Expr pooled_, source_;
  LayoutAxes axes_;
  int64_t height_, width_;
  std::vector<Tap> rows_, columns_;
};

}  // namespace

void gradient_max_pool2d_gradient(GradientRule& r) {
  if (r.wants(0)) r.give(0, AtMaxima(r.op(), r.x(0), r.x(1)).of(r.g()));
}

void gradient_avg_pool2d(GradientRule& r) {
  r.give(0, apply(OpCode::avg_pool2d_gradient, {r.g(), r.x()}, r.op().attributes));
}
void gradient_avg_pool2d_gradient(GradientRule& r) { r.give(0, apply(OpCode::avg_pool2d, {r.g()}, r.op().attributes)); }

namespace {

Cost window_cost(const Op& op, const Value& windows) {
  const Dims& window = op.attributes.ints(Attr::kWindow);
  return cost_of(op, element_count(windows) * static_cast<uint64_t>(window[0] * window[1]));
}

}  // namespace

Cost cost_max_pool2d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_avg_pool2d(const Op& op) { return window_cost(op, op.result()); }
Cost cost_max_pool2d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }
Cost cost_avg_pool2d_gradient(const Op& op) { return window_cost(op, op.operands[0]); }

}  // namespace alloy::ir
