// Reductions, and what else is computed along axes.

#include <algorithm>

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::kMostRank;
using ir::OpCode;
using ir::Quirk;
using ir::Shape;

// The axes of an op, from the front, in ascending order and each once.
Dims axes_of(const ir::Op& op) {
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    axes.push_back(*ir::normalize_axis(axis, op.operands[0].shape().rank()));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

double reduced_count(const ir::Op& op) {
  double count = 1;
  for (int64_t axis : axes_of(op)) count *= static_cast<double>(op.operands[0].shape()[axis]);
  return count;
}

}  // namespace

MPSGraphTensor* reduced(const Lowering& lowering, const Shaped& x, const Dims& axes, const Reduction& reduction,
                        NSString* name) {
  if (static_cast<int64_t>(x.dims.size()) > kMostRank && lowering.has(Quirk::reduction_beyond_rank4)) {
    return reduced_flat(lowering.graph(), x, axes, reduction, name);
  }
  return reduction(x.tensor, mps_numbers(axes), name);
}

MPSGraphTensor* reduced(const Lowering& lowering, const ir::Op& op, const Reduction& reduction, NSString* name) {
  const Dims axes = axes_of(op);
  if (!axes.empty()) return reduced(lowering, lowering.shaped_x(op), axes, reduction, name);
  MPSGraphTensor* x = lowering.x(op);
  if (op.code != OpCode::variance) return [lowering.graph() identityWithTensor:x name:name];
  return [lowering.graph() subtractionWithPrimaryTensor:x secondaryTensor:x name:name];
}

MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, const AlongAxis& work, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(dims.size()));
  if (static_cast<int64_t>(dims.size()) <= kMostRank || !lowering.has(Quirk::reduction_beyond_rank4)) {
    return work(lowering.x(op), static_cast<NSInteger>(axis), name);
  }
  const auto at = dims.begin() + axis;
  const Dims flat{Shape(Dims(dims.begin(), at)).element_count(), *at, Shape(Dims(at + 1, dims.end())).element_count()};
  MPSGraphTensor* out = work([graph reshapeTensor:lowering.x(op) withShape:mps_numbers(flat) name:nil], 1, nil);
  return [graph reshapeTensor:out withShape:mps_shape(op.results[0].shape) name:name];
}

// Sums the first operand down to the shape of the second, which broadcasts to it.
Nodes lower_reduce_like(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Shape &from = op.operands[0].shape(), &shape = op.results[0].shape;
  Dims axes;
  const int64_t offset = from.rank() - shape.rank();
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i < offset || (shape[i - offset] == 1 && from[i] != 1)) axes.push_back(i);
  }
  const Reduction sum = [&](MPSGraphTensor* t, NSArray<NSNumber*>* along, NSString* as) {
    return [lowering.graph() reductionSumWithTensor:t axes:along name:as];
  };
  MPSGraphTensor* out = axes.empty() ? lowering.x(op) : reduced(lowering, lowering.shaped_x(op), axes, sum, name);
  return [lowering.graph() reshapeTensor:out withShape:mps_shape(shape) name:name];
}

Nodes lower_count(Lowering& lowering, const ir::Op& op, NSString*) {
  return [lowering.graph() constantWithScalar:reduced_count(op) dataType:mps_type(op.results[0].dtype)];
}

}  // namespace alloy::engine
