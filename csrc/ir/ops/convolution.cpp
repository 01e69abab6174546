// Convolutions and their gradients.
#include <numeric>

#include "ir/ops/windowed.h"
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/rules/windows.h"
#include "ir/transform/gradients.h"

namespace alloy::ir {
namespace {

Shape convolved(const Op& op, const Shape& source, const Shape& weights) {
  const LayoutAxes x = LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const WeightsAxes w = WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const int64_t groups = op.attributes.integer(Attr::kGroups);
  if (groups < 1) op.fail("Expected 1 or more groups, got " + std::to_string(groups));
  if (groups > INT32_MAX) op.fail("Expected fewer than 2^31 groups, got " + std::to_string(groups));
  if (!source.ranked() || !weights.ranked()) return Shape(Dims(x.spatial.size() + 2, kUnknown));
  const int64_t channels = source[x.channels], expected = weights[w.in], filters = weights[w.out];
  if (channels != kUnknown && expected != kUnknown && channels != expected * groups) {
    op.fail("Input has " + std::to_string(channels) + " channels (shape " + to_string(source) +
            ") but the weights expect " + std::to_string(expected * groups) + " (shape " + to_string(weights) +
            (groups > 1 ? ", " + std::to_string(groups) + " groups)" : ")"));
  }
  if (filters != kUnknown && filters % groups != 0) {
    op.fail("The weights have " + std::to_string(filters) + " filters (shape " + to_string(weights) + "), which " +
            std::to_string(groups) + " groups do not divide");
  }
  Dims dims(x.spatial.size() + 2);
  dims[x.batch] = source[x.batch];
  dims[x.channels] = filters;
  for (int64_t i = 0; i < x.spatial.size(); ++i) {
    dims[x.spatial[i]] = window_extent(op, i, weights[w.spatial[i]], source[x.spatial[i]], source);
  }
  return Shape(dims);
}

Types infer_convolution(const Op& op) {
  const Type &source = operand(op, 0), &weights = operand(op, 1);
  require_image(op, source, "a source");
  require_image(op, weights, "weights");
  require_window_attributes(op);
  return {{same_dtype(op), convolved(op, source.shape, weights.shape)}};
}

Types infer_data_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &weights = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, weights, "weights");
  require_image(op, like, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, like.shape, weights.shape));
  return {{same_dtype(op), like.shape}};
}

Types infer_weights_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_image(op, like, "weights");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, source.shape, like.shape));
  return {{same_dtype(op), like.shape}};
}

// The ops of a convolution: conv(x, w), its data gradient (g, w, like x) and its weights gradient (g, x, like w). Each
// is linear in its first two operands, so their gradients are ops of the same three.
struct Convolution {
  OpCode forward, data_gradient, weights_gradient;

  void differentiate_forward(GradientRule& r) const {
    if (r.wants(0)) r.give(0, add(data_gradient, r, {r.g(), r.x(1), r.x(0)}));
    if (r.wants(1)) r.give(1, add(weights_gradient, r, {r.g(), r.x(0), r.x(1)}));
  }
  void differentiate_data_gradient(GradientRule& r) const {
    if (r.wants(0)) r.give(0, add(forward, r, {r.g(), r.x(1)}));
    if (r.wants(1)) r.give(1, add(weights_gradient, r, {r.x(0), r.g(), r.x(1)}));
  }
  void differentiate_weights_gradient(GradientRule& r) const {
    if (r.wants(0)) r.give(0, add(forward, r, {r.x(1), r.g()}));
    if (r.wants(1)) r.give(1, add(data_gradient, r, {r.x(0), r.g(), r.x(1)}));
  }

 private:
  static Expr add(OpCode code, const GradientRule& r, const std::vector<Expr>& operands) {
    return apply(code, operands, r.op().attributes);
  }
};

constexpr Convolution k2d{OpCode::conv2d, OpCode::conv2d_data_gradient, OpCode::conv2d_weights_gradient};
constexpr Convolution k3d{OpCode::conv3d, OpCode::conv3d_data_gradient, OpCode::conv3d_weights_gradient};

// 2 for each result of the forward convolution and each weight that it uses.
Cost convolution_cost(const Op& op, const Value& weights, const Value& result) {
  const int64_t filters = weights.shape()[WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout)).out];
  if (filters == 0) return cost_of(op, 0);
  return cost_of(op, 2 * element_count(result) * (element_count(weights) / static_cast<uint64_t>(filters)));
}

}  // namespace

Types infer_conv2d(const Op& op) { return infer_convolution(op); }
Types infer_conv3d(const Op& op) { return infer_convolution(op); }
Types infer_conv2d_data_gradient(const Op& op) { return infer_data_gradient(op); }
Types infer_conv3d_data_gradient(const Op& op) { return infer_data_gradient(op); }
Types infer_conv2d_weights_gradient(const Op& op) { return infer_weights_gradient(op); }
Types infer_conv3d_weights_gradient(const Op& op) { return infer_weights_gradient(op); }

void gradient_conv2d(GradientRule& r) { k2d.differentiate_forward(r); }
void gradient_conv3d(GradientRule& r) { k3d.differentiate_forward(r); }
void gradient_conv2d_data_gradient(GradientRule& r) { k2d.differentiate_data_gradient(r); }
void gradient_conv3d_data_gradient(GradientRule& r) { k3d.differentiate_data_gradient(r); }
void gradient_conv2d_weights_gradient(GradientRule& r) { k2d.differentiate_weights_gradient(r); }
void gradient_conv3d_weights_gradient(GradientRule& r) { k3d.differentiate_weights_gradient(r); }

Cost cost_conv2d(const Op& op) { return convolution_cost(op, op.operands[1], op.result()); }
Cost cost_conv3d(const Op& op) { return cost_conv2d(op); }
Cost cost_conv2d_data_gradient(const Op& op) { return convolution_cost(op, op.operands[1], op.operands[0]); }
Cost cost_conv3d_data_gradient(const Op& op) { return cost_conv2d_data_gradient(op); }
Cost cost_conv2d_weights_gradient(const Op& op) { return convolution_cost(op, op.result(), op.operands[0]); }
Cost cost_conv3d_weights_gradient(const Op& op) { return cost_conv2d_weights_gradient(op); }

// ---- composites ----

namespace {

// The extent of an image from which a convolution makes `extent` windows along an axis, as a vector of one number.
Expr transposed_extent(const Composition& c, Expr extent, int64_t axis, int64_t kernel) {
  const int64_t stride = c.attributes.ints(Attr::kStrides)[axis];
  const int64_t reach = (kernel - 1) * c.attributes.ints(Attr::kDilations)[axis] + 1;
  const std::string& style = c.attributes.word(Attr::kPaddingStyle);
  int64_t more = 0;
  if (style == "valid") more = std::max<int64_t>(reach - stride, 0);
  if (style == "explicit") {
    const Dims& padding = c.attributes.ints(Attr::kPadding);
    more = reach - stride - padding[2 * axis] - padding[2 * axis + 1];
  }
  return extent * static_cast<double>(stride) + static_cast<double>(more);
}

}  // namespace

Exprs compose_conv2d_transpose(const Composition& c) {
  const Expr x = c.x(0), weights = c.x(1);
  const LayoutAxes l = LayoutAxes::of_data(c.attributes.word(Attr::kDataLayout));
  const WeightsAxes w = WeightsAxes::of_weights(c.attributes.word(Attr::kWeightsLayout));
  const Dims& size = c.attributes.ints(Attr::kSize);
  if (l.spatial.size() != 2 || w.spatial.size() != 2) c.fail("Expected layouts such as NHWC and HWIO");
  if (rank_of(x) != 4) c.fail("Expected a source of rank 4, got " + text(x.shape()));
  if (rank_of(weights) != 4 || !weights.shape().is_static()) {
    c.fail("Expected weights of a known shape of rank 4, got " + text(weights.shape()));
  }
  if (!size.empty() && size.size() != 2) c.fail("Expected a height and a width of the result, got " + text(size));
  for (Attr attr : {Attr::kStrides, Attr::kDilations}) {
    if (c.attributes.ints(attr).size() != 2) c.fail("Expected 2 " + std::string(name(attr)));
  }
  if (c.attributes.ints(Attr::kPadding).size() != 4) c.fail("Expected 4 paddings (top, bottom, left, right)");
  const Expr shape = apply(OpCode::shape_of, {x});
  const auto number = [&](int64_t n) { return integers(c.graph, DType::int32, {1}, std::vector{n}); };
  std::vector<Expr> dims(4);
  dims[l.batch] = slice(shape, 0, l.batch, l.batch + 1);
  dims[l.channels] = number(weights.shape()[w.in] * c.attributes.integer(Attr::kGroups));
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t axis = l.spatial[i];
    dims[axis] = size.empty() ? transposed_extent(c, slice(shape, 0, axis, axis + 1), i, weights.shape()[w.spatial[i]])
                              : number(size[i]);
  }
  const Expr like = apply(OpCode::shaped, {concat(dims, 0)}, {{Attr::kDtype, x.value().dtype()}});
  return {apply(OpCode::conv2d_data_gradient, {x, weights, like}, c.attributes.without(Attr::kSize))};
}

namespace {

// The convolution's attributes with `groups` groups.
Attributes with_groups(const Composition& c, int64_t groups) {
  Attributes attributes = c.attributes.without(Attr::kAxis);
  attributes.set(Attr::kGroups, groups);
  return attributes;
}

// Each channel c is a group; its M filters give the channels c M + m.
Expr depthwise_2d(const Composition& c, Expr x, Expr weights) {
  if (rank_of(weights) != 4) c.fail("Expected weights of rank 4, got " + text(weights.shape()));
  const WeightsAxes w = WeightsAxes::of_weights(c.attributes.word(Attr::kWeightsLayout));
  const int64_t channels = weights.shape()[w.in], filters = weights.shape()[w.out];
  if (channels == kUnknown || filters == kUnknown) {
    c.fail("Expected weights with known channels and filters, got " + text(weights.shape()));
  }
  if (channels == 0) c.fail("Expected weights of 1 channel or more, got " + text(weights.shape()));
  if (w.out < w.in) weights = transpose(weights, {1, 0, 2, 3});  // the filters of a channel lie side by side
  Dims dims = weights.shape().dims();
  dims[w.in] = 1;
  dims[w.out] = channels * filters;
  return apply(OpCode::conv2d, {x, reshape(weights, dims)}, with_groups(c, channels));
}

}  // namespace

Exprs compose_depthwise_conv2d(const Composition& c) { return {depthwise_2d(c, c.x(0), c.x(1))}; }

Exprs compose_depthwise_conv2d_data_gradient(const Composition& c) {
  return {adjoint(c.x(0), c.x(2), [&](Expr x) { return depthwise_2d(c, x, c.x(1)); })};
}

Exprs compose_depthwise_conv2d_weights_gradient(const Composition& c) {
  return {adjoint(c.x(0), c.x(2), [&](Expr weights) { return depthwise_2d(c, c.x(1), weights); })};
}

namespace {

// The permutation that moves the axis of the channels behind or before the other three of the last four axes.
Dims channels_moved(int64_t rank, int64_t axis, bool to_the_end) {
  Dims order(rank);
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.insert(to_the_end ? order.end() : order.begin() + rank - 4, axis);
  return order;
}

Dims inverse(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (int64_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
  return inverse;
}

// Convolves with channels as the first or the last of four axes: a first axis of channels stays first, any other moves
// to the end. Axes before the last four become one batch.
Expr depthwise_3d(const Composition& c, Expr x, Expr weights) {
  const int64_t axis = c.attributes.integer(Attr::kAxis), rank = rank_of(x);
  if (axis < -4 || axis > -1) {
    c.fail("Expected the channels at an axis from -4 to -1, got " + std::to_string(axis));
  }
  if (rank < 4) c.fail("Expected a source of rank 4 or more, got " + text(x.shape()));
  if (rank_of(weights) != 4) c.fail("Expected weights of rank 4, got " + text(weights.shape()));
  const int64_t channels = weights.shape()[4 + axis];
  if (channels == kUnknown || channels == 0) c.fail("Expected known channels, got " + text(weights.shape()));
  const bool is_last = axis != -4;
  const Dims order = channels_moved(rank, rank + axis, is_last);
  weights = expand_dims(transpose(weights, channels_moved(4, 4 + axis, is_last)), {is_last ? 3 : 1});
  const Expr moved = transpose(x, order);
  const Dims& dims = moved.shape().dims();
  Dims volume{-1};
  volume.insert(volume.end(), dims.end() - 4, dims.end());
  if (std::count(volume.begin(), volume.end(), kUnknown) > 1) {
    c.fail("Expected known depth, height, width and channels, got " + text(x.shape()));
  }
  const Shape batch(Dims(dims.begin(), dims.end() - 4));
  if (batch.is_static()) volume[0] = batch.element_count();
  Attributes attributes = with_groups(c, channels);
  attributes.set(Attr::kDataLayout, std::string(is_last ? "NDHWC" : "NCDHW"));
  attributes.set(Attr::kWeightsLayout, std::string(is_last ? "DHWIO" : "OIDHW"));
  const Expr y = apply(OpCode::conv3d, {reshape(moved, volume), weights}, attributes);
  Dims result = batch.dims();
  result.insert(result.end(), y.shape().dims().begin() + 1, y.shape().dims().end());
  return transpose(reshape(y, result), inverse(order));
}

}  // namespace

Exprs compose_depthwise_conv3d(const Composition& c) { return {depthwise_3d(c, c.x(0), c.x(1))}; }

Exprs compose_depthwise_conv3d_data_gradient(const Composition& c) {
  return {adjoint(c.x(0), c.x(2), [&](Expr x) { return depthwise_3d(c, x, c.x(1)); })};
}

Exprs compose_depthwise_conv3d_weights_gradient(const Composition& c) {
  return {adjoint(c.x(0), c.x(2), [&](Expr weights) { return depthwise_3d(c, c.x(1), weights); })};
}

namespace {

// The indices, in a padded image of `width` columns, of all elements of all windows. With `taps_first` a row holds one
// tap in all windows, else a row holds one window's taps.
std::vector<int64_t> window_places(const Window& y, const Window& x, const Dims& positions, int64_t width,
                                   bool taps_first) {
  std::vector<int64_t> places;
  const int64_t taps = y.size * x.size, windows = positions[0] * positions[1];
  for (int64_t i = 0; i < taps * windows; ++i) {
    const int64_t tap = taps_first ? i / windows : i % taps, window = taps_first ? i % windows : i / taps;
    const int64_t row = window / positions[1] * y.stride + tap / x.size * y.dilation,
                  column = window % positions[1] * x.stride + tap % x.size * x.dilation;
    places.push_back(row * width + column);
  }
  return places;
}

Expr columns_of(const Composition& c, Expr image) {
  const LayoutAxes l = LayoutAxes::of_data(c.attributes.word(Attr::kDataLayout));
  if (l.spatial.size() != 2) c.fail("Expected a layout of images such as NHWC");
  if (rank_of(image) != 4) c.fail("Expected an image of rank 4, got " + text(image.shape()));
  const Dims &window = c.attributes.ints(Attr::kWindow), &padding = c.attributes.ints(Attr::kPadding);
  for (Attr attr : {Attr::kWindow, Attr::kStrides, Attr::kDilations}) {
    const Dims& numbers = c.attributes.ints(attr);
    if (numbers.size() != 2 || *std::min_element(numbers.begin(), numbers.end()) < 1) {
      c.fail("Expected 2 positive " + std::string(name(attr)) + " (height, width), got " + text(numbers));
    }
  }
  if (padding.size() != 4) c.fail("Expected 4 paddings (top, bottom, left, right), got " + text(padding));
  const bool channels_first = l.channels == 1;
  Dims around(8, 0), positions;
  std::vector<Window> windows;
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t extent = image.shape()[l.spatial[i]];
    if (extent == kUnknown) c.fail("Expected an image of known height and width, got " + text(image.shape()));
    windows.push_back({window[i], c.attributes.ints(Attr::kStrides)[i], c.attributes.ints(Attr::kDilations)[i],
                       padding[2 * i], padding[2 * i + 1]});
    positions.push_back(output_extent(windows[i], extent, false));
    if (positions[i] < 1) {
      c.fail("A window of " + std::to_string(windows[i].effective()) + " does not fit into " + text(image.shape()));
    }
    around[2 * l.spatial[i]] = padding[2 * i];
    around[2 * l.spatial[i] + 1] = padding[2 * i + 1];
  }
  const Expr padded = apply(OpCode::pad, {image, image.scalar(0)}, {{Attr::kPadding, around}});
  const Dims& dims = padded.shape().dims();
  const int64_t channels = dims[l.channels];
  if (channels == kUnknown) c.fail("Expected an image of known channels, got " + text(image.shape()));
  c.require_room({DType::int32, Shape({window[0], window[1], positions[0], positions[1]})});
  const int64_t pixels = dims[l.spatial[0]] * dims[l.spatial[1]], taps = window[0] * window[1],
                count = positions[0] * positions[1];
  c.require_places(taps * count);
  const Expr flat = reshape(padded, channels_first ? Dims{dims[0], channels, pixels} : Dims{dims[0], pixels, channels});
  const std::vector<int64_t> places =
      window_places(windows[0], windows[1], positions, dims[l.spatial[1]], channels_first);
  const Expr indices = integers(c.graph, DType::int32, channels_first ? Dims{taps, count} : Dims{count, taps}, places);
  const Expr taken = gather(flat, indices, channels_first ? 2 : 1);
  return reshape(taken, channels_first ? Dims{dims[0], channels * taps, count} : Dims{dims[0], count, taps * channels});
}

}  // namespace

Exprs compose_im2col(const Composition& c) { return {columns_of(c, c.x())}; }

Exprs compose_col2im(const Composition& c) {
  return {adjoint(c.x(0), c.x(1), [&](Expr image) { return columns_of(c, image); })};
}

}  // namespace alloy::ir
