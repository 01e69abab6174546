#import "engine/lowering/axes.h"

#include <algorithm>

#import "engine/mps_types.h"

namespace alloy::engine {

using ir::Attr;
using ir::Dims;
using ir::kMostRank;
using ir::OpCode;
using ir::Quirk;
using ir::Shape;

Dims axes_of(const ir::Op& op) {
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    axes.push_back(*ir::normalize_axis(axis, op.operands[0].shape().rank()));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

MPSGraphTensor* reduced(const Lowering& lowering, const Shaped& x, const Dims& axes, const Reduction& reduction,
                        NSString* name) {
  if (x.dims.size() > kMostRank && lowering.has(Quirk::reduction_beyond_rank4)) {
    return reduced_flat(lowering.graph(), x, axes, reduction, name);
  }
  return reduction(x.tensor, mps_numbers(axes), name);
}

MPSGraphTensor* reduced(const Lowering& lowering, const ir::Op& op, const Reduction& reduction, NSString* name) {
  const Dims axes = axes_of(op);
  if (!axes.empty()) return reduced(lowering, lowering.shaped_x(op), axes, reduction, name);
  // Over no axes every reduction but variance returns its operand.
  MPSGraphTensor* x = lowering.x(op);
  if (op.code != OpCode::variance) return [lowering.graph() identityWithTensor:x name:name];
  return [lowering.graph() subtractionWithPrimaryTensor:x secondaryTensor:x name:name];
}

MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, const AlongAxis& work, NSString* name) {
  const bool is_flat = op.operands[0].shape().rank() > kMostRank && lowering.has(Quirk::reduction_beyond_rank4);
  return along_axis(lowering, op, is_flat, work, name);
}

MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, bool is_flat, const AlongAxis& work,
                           NSString* name) {
  MPSGraph* graph = lowering.graph();
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), dims.size());
  if (!is_flat) return work(lowering.x(op), static_cast<NSInteger>(axis), name);
  const auto at = dims.begin() + axis;
  const Dims flat{Shape(Dims(dims.begin(), at)).element_count(), *at, Shape(Dims(at + 1, dims.end())).element_count()};
  MPSGraphTensor* out = work([graph reshapeTensor:lowering.x(op) withShape:mps_numbers(flat) name:nil], 1, nil);
  return [graph reshapeTensor:out withShape:mps_shape(op.results[0].shape) name:name];
}

}  // namespace alloy::engine
