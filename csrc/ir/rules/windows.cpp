#include "ir/rules/windows.h"

#include <algorithm>

namespace alloy::ir {

namespace {

int64_t position(const std::string& layout, char role) { return static_cast<int64_t>(layout.find(role)); }

Dims spatial_axes(const std::string& layout) {
  Dims axes;
  for (char role : {'D', 'H', 'W'}) {
    if (layout.find(role) != std::string::npos) axes.push_back(position(layout, role));
  }
  return axes;
}

}  // namespace

LayoutAxes LayoutAxes::of_data(const std::string& layout) {
  return {position(layout, 'N'), position(layout, 'C'), spatial_axes(layout)};
}

WeightsAxes WeightsAxes::of_weights(const std::string& layout) {
  return {position(layout, 'O'), position(layout, 'I'), spatial_axes(layout)};
}

Dims window_axes(const Attributes& attributes, int64_t rank) {
  if (attributes.has(Attr::kDataLayout)) return LayoutAxes::of_data(attributes.word(Attr::kDataLayout)).spatial;
  return {rank - 4, rank - 3, rank - 2, rank - 1};
}

Window window_of(const Attributes& attributes, int64_t axis, int64_t kernel, int64_t input) {
  Window w{kernel, attributes.ints(Attr::kStrides)[axis], attributes.ints(Attr::kDilations)[axis], 0, 0};
  const std::string& style = attributes.word(Attr::kPaddingStyle);
  if (style == "explicit") {
    w.before = attributes.ints(Attr::kPadding)[2 * axis];
    w.after = attributes.ints(Attr::kPadding)[2 * axis + 1];
  } else if (style != "valid") {
    const int64_t positions = (input + w.stride - 1) / w.stride;
    const int64_t total = std::max<int64_t>((positions - 1) * w.stride + w.effective() - input, 0);
    w.before = style == "same" ? total / 2 : total - total / 2;
    w.after = total - w.before;
  }
  return w;
}

int64_t output_extent(const Window& w, int64_t input, bool ceil_mode) {
  const int64_t room = input + w.before + w.after - w.effective();
  if (room < 0) return 0;
  return (ceil_mode ? (room + w.stride - 1) / w.stride : room / w.stride) + 1;
}

PoolIndices PoolIndices::of(const std::string& word) {
  return {word.starts_with("local"), word[word.size() - 2] - '0'};
}

int64_t PoolIndices::modulus(const Shape& shape) const {
  return Shape(Dims(shape.dims().end() - axes, shape.dims().end())).element_count();
}

SliceAxis resolve_slice(int64_t start, int64_t end, int64_t stride, int64_t extent) {
  auto clamp_index = [&](int64_t i, int64_t low, int64_t high) {
    if (i != kSliceToBegin && i < 0) i += extent;
    return std::clamp(i, low, high);
  };
  SliceAxis s{0, stride, 0};
  if (stride > 0) {
    s.start = clamp_index(start, 0, extent);
    const int64_t stop = clamp_index(end, 0, extent);
    s.length = stop > s.start ? (stop - s.start - 1) / stride + 1 : 0;
  } else {
    s.start = clamp_index(start, -1, extent - 1);
    const int64_t stop = clamp_index(end, -1, extent - 1);
    s.length = s.start > stop ? (s.start - stop - 1) / -std::max(stride, -INT64_MAX) + 1 : 0;
  }
  // The stride of at most one element is never used; 1 keeps kernels' arithmetic from overflowing.
  if (s.length <= 1) s.stride = 1;
  return s;
}

}  // namespace alloy::ir
