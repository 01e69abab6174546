#include "ir/windows.h"

#include <algorithm>

namespace alloy::ir {

LayoutAxes LayoutAxes::of_data(const std::string& layout) {
  return layout == "NHWC" ? LayoutAxes{0, 3, 1, 2} : LayoutAxes{0, 1, 2, 3};
}

WeightsAxes WeightsAxes::of_weights(const std::string& layout) {
  return layout == "HWIO" ? WeightsAxes{3, 2, 0, 1} : WeightsAxes{0, 1, 2, 3};
}

Window window_of(const Attributes& attributes, int axis, int64_t kernel, int64_t input) {
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
  // A stride that is never taken must not overflow the arithmetic of kernels.
  if (s.length <= 1) s.stride = 1;
  return s;
}

}  // namespace alloy::ir
