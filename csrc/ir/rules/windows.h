// Sliding windows (convolution, pooling) and slices: arithmetic shared by shape rules and kernels.
#pragma once

#include "ir/op.h"

namespace alloy::ir {

// One spatial axis of a sliding window.
struct Window {
  int64_t size;  // elements of the window along the axis
  int64_t stride;
  int64_t dilation;
  int64_t before;  // padding, resolved for the input's extent
  int64_t after;
  int64_t effective() const { return (size - 1) * dilation + 1; }
};

// The position of each axis in a layout such as "NHWC", "OIHW" or "NDHWC". The spatial axes are depth, height and
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

// The axes along which the windows of an op move: the spatial axes of its layout, or the last four without a layout.
Dims window_axes(const Attributes& attributes, int64_t rank);

// The window along the `axis`-th of these axes, with its padding resolved for the extent `input`. `kernel` is the
// window's extent. The attributes are a convolution's or pooling's: strides and dilations, one for each axis, and
// padding, before and after each.
Window window_of(const Attributes& attributes, int64_t axis, int64_t kernel, int64_t input);
// The number of positions of the window; 0 or less if it does not fit.
int64_t output_extent(const Window& window, int64_t input, bool ceil_mode);

// The meaning of a pooling's indices, from a word such as "local_2d": row-major over `axes` of the last axes, of the
// window if they are local, else of the source.
struct PoolIndices {
  bool are_local;
  int64_t axes;
  static PoolIndices of(const std::string& word);
  // The number of possible indices: the product of the last `axes` extents.
  int64_t modulus(const Shape& shape) const;
};

// One axis of a slice, with Python's negative indices resolved and clamped to the extent.
struct SliceAxis {
  int64_t start, stride, length;
};
SliceAxis resolve_slice(int64_t start, int64_t end, int64_t stride, int64_t extent);
// The end of a slice that goes to the end of the axis, forwards or backwards.
inline constexpr int64_t kSliceToEnd = INT64_MAX;
inline constexpr int64_t kSliceToBegin = INT64_MIN;

}  // namespace alloy::ir
