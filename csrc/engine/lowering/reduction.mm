// Reductions with a lowering of their own.

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {

using ir::Dims;
using ir::Shape;

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
  double count = 1;
  for (int64_t axis : axes_of(op)) count *= static_cast<double>(op.operands[0].shape()[axis]);
  return [lowering.graph() constantWithScalar:count dataType:mps_type(op.results[0].dtype)];
}

}  // namespace alloy::engine
