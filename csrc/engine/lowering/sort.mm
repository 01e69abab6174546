// The order of elements, and running totals.

#import "engine/lowering/ops.h"

namespace alloy::engine {

using ir::Attr;

Nodes lower_argsort(Lowering& lowering, const ir::Op& op, NSString* name) {
  const ir::Shape& x = op.operands[0].shape();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.rank()),
                count = op.results[0].shape[axis];
  const bool is_whole = count == x[axis];
  MPSGraphTensor* order = [lowering.graph() argSortWithTensor:lowering.x(op)
                                                         axis:axis
                                                   descending:op.attributes.flag(Attr::kDescending)
                                                         name:is_whole ? name : nil];
  if (is_whole) return order;
  return [lowering.graph() sliceTensor:order dimension:static_cast<NSUInteger>(axis) start:0 length:count name:name];
}

Nodes lower_accumulate(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  MPSGraphTensor* x = lowering.x(op);
  const std::string& operation = op.attributes.word(Attr::kOperation);
  const NSInteger axis = op.attributes.integer(Attr::kAxis);
  const BOOL reverse = op.attributes.flag(Attr::kReverse);
  if (operation == "sum") return [graph cumulativeSumWithTensor:x axis:axis exclusive:NO reverse:reverse name:name];
  if (operation == "product") {
    return [graph cumulativeProductWithTensor:x axis:axis exclusive:NO reverse:reverse name:name];
  }
  if (operation == "minimum") {
    return [graph cumulativeMinimumWithTensor:x axis:axis exclusive:NO reverse:reverse name:name];
  }
  return [graph cumulativeMaximumWithTensor:x axis:axis exclusive:NO reverse:reverse name:name];
}

}  // namespace alloy::engine
