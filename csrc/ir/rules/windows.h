// Arithmetic of sliding windows (convolution, pooling) and of slices, shared by shape rules and kernels.
#pragma once

#include "ir/op.h"

namespace alloy::ir {

// One spatial axis of a sliding window.
struct Window {
  int64_t size;  // elements of the kernel along the axis
  int64_t stride;
  int64_t dilation;
  int64_t before;  // padding resolved for a concrete input extent
  int64_t after;
  int64_t effective() const { return (size - 1) * dilation + 1; }
};

// The position of each role in a layout word such as "NHWC", "OIHW" or "NDHWC"; the spatial axes are depth, height and
// width, or the last two of them, in this order.
struct LayoutAxes {
  int64_t batch, channels;  // of data
  Dims spatial;
  static LayoutAxes of_data(const std::string& layout);
};
struct WeightsAxes {
  int64_t out, in;
  Dims spatial;
  static WeightsAxes of_weights(const std::string& layout);
};

// The axes of a tensor along which the windows of an op move: those that its layout calls spatial, or without a layout
// the last four.
Dims window_axes(const Attributes& attributes, int64_t rank);

// The window along the `axis`-th of these axes over an input extent, with the padding style resolved. `kernel` is the
// kernel's extent along it. The attributes are those of a convolution or pooling op: strides and dilations, one for
// each axis, and padding, before and after each.
Window window_of(const Attributes& attributes, int64_t axis, int64_t kernel, int64_t input);
// How many positions the window takes; 0 or less where it does not fit.
int64_t output_extent(const Window& window, int64_t input, bool ceil_mode);

// How the places of pooled maxima are told, by a word such as "local_2d": row-major over so many of the last axes, of
// the source, or of the window if they are local.
struct PoolIndices {
  bool are_local;
  int64_t axes;
  static PoolIndices of(const std::string& word);
  // How many different places there are: the product of so many of the last extents.
  int64_t modulus(const Shape& shape) const;
};

// One axis of a slice with Python's negative indices resolved and clamped to the extent.
struct SliceAxis {
  int64_t start, stride, length;
};
SliceAxis resolve_slice(int64_t start, int64_t end, int64_t stride, int64_t extent);
// The value of an end that means "past the first element" of a backward slice, or "to the end" of a forward one.
inline constexpr int64_t kSliceToEnd = INT64_MAX;
inline constexpr int64_t kSliceToBegin = INT64_MIN;

}  // namespace alloy::ir
