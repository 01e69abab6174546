// Ops that say what flows where, and those that never come here: regions are made behind the framework.

#import "engine/lowering/ops.h"

namespace alloy::engine {

Nodes lower_stop_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() identityWithTensor:lowering.x(op) name:name];
}

Nodes lower_if_else(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }
Nodes lower_fused(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }

}  // namespace alloy::engine
