// Convolutions and their gradients.
#include "ir/ops/windowed.h"
#include "ir/rules.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

Shape convolved(const Op& op, const Shape& source, const Shape& weights) {
  const LayoutAxes x = LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const WeightsAxes w = WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const int64_t groups = op.attributes.integer(Attr::kGroups);
  if (groups < 1) op.fail("Expected 1 or more groups, got " + std::to_string(groups));
  if (groups > INT32_MAX) op.fail("Expected fewer than 2^31 groups, got " + std::to_string(groups));
  if (!source.ranked() || !weights.ranked()) return Shape({kUnknown, kUnknown, kUnknown, kUnknown});
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
  Dims dims(4);
  dims[x.batch] = source[x.batch];
  dims[x.channels] = filters;
  dims[x.height] = window_extent(op, 0, weights[w.height], source[x.height], source);
  dims[x.width] = window_extent(op, 1, weights[w.width], source[x.width], source);
  return Shape(dims);
}

}  // namespace

Types infer_conv2d(const Op& op) {
  const Type &source = operand(op, 0), &weights = operand(op, 1);
  require_image(op, source, "a source");
  require_image(op, weights, "weights");
  require_window_attributes(op);
  return {{same_dtype(op), convolved(op, source.shape, weights.shape)}};
}

Types infer_conv2d_data_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &weights = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, weights, "weights");
  require_image(op, like, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, like.shape, weights.shape));
  return {{same_dtype(op), like.shape}};
}

Types infer_conv2d_weights_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_image(op, like, "weights");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, source.shape, like.shape));
  return {{same_dtype(op), like.shape}};
}

namespace {

// conv2d(x, w), its data gradient (g, w, like x) and its weights gradient (g, x, like w) are linear in each other's
// operands.
Expr convolution(OpCode code, const GradientRule& r, const std::vector<Expr>& operands) {
  return apply(code, operands, r.op().attributes);
}

}  // namespace

void gradient_conv2d(GradientRule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d_data_gradient, r, {r.g(), r.x(1), r.x(0)}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_weights_gradient, r, {r.g(), r.x(0), r.x(1)}));
}

void gradient_conv2d_data_gradient(GradientRule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d, r, {r.g(), r.x(1)}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_weights_gradient, r, {r.x(0), r.g(), r.x(1)}));
}

void gradient_conv2d_weights_gradient(GradientRule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d, r, {r.x(1), r.g()}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_data_gradient, r, {r.x(0), r.g(), r.x(1)}));
}

namespace {

// 2 for each result of the forward convolution and each weight of the filter that gives it.
Cost convolution_cost(const Op& op, const Value& weights, const Value& result) {
  const int64_t filters = weights.shape()[WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout)).out];
  if (filters == 0) return cost_of(op, 0);
  return cost_of(op, 2 * element_count(result) * (element_count(weights) / static_cast<uint64_t>(filters)));
}

}  // namespace

Cost cost_conv2d(const Op& op) { return convolution_cost(op, op.operands[1], op.result()); }
Cost cost_conv2d_data_gradient(const Op& op) { return convolution_cost(op, op.operands[1], op.operands[0]); }
Cost cost_conv2d_weights_gradient(const Op& op) { return convolution_cost(op, op.result(), op.operands[0]); }

}  // namespace alloy::ir
