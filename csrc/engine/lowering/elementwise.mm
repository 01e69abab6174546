// Elementwise ops whose rows name no selector.

#import "engine/lowering/ops.h"

namespace alloy::engine {

Nodes lower_select(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  MPSGraphTensor* flag = lowering.x(op, 0);
  const ir::DType dtype = op.operands[0].dtype();
  if (dtype != ir::DType::boolean && lowering.has(ir::Quirk::select_by_number)) {
    flag = [graph notEqualWithPrimaryTensor:flag
                            secondaryTensor:[graph constantWithScalar:0 dataType:mps_type(dtype)]
                                       name:nil];
  }
  return [graph selectWithPredicateTensor:flag
                      truePredicateTensor:lowering.x(op, 1)
                     falsePredicateTensor:lowering.x(op, 2)
                                     name:name];
}

Nodes lower_clamp(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() clampWithTensor:lowering.x(op, 0)
                            minValueTensor:lowering.x(op, 1)
                            maxValueTensor:lowering.x(op, 2)
                                      name:name];
}

Nodes lower_cast(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() castTensor:lowering.x(op) toType:mps_type(op.results[0].dtype) name:name];
}

}  // namespace alloy::engine
