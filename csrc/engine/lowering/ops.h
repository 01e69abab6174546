// The lowering of each op: lower_NAME for a row NAME of ops.def. Each family has a file; table.mm makes the lowerings
// of table ops from their rows. A row without a lowering does not link.
#pragma once

#import "engine/lowering/lowering.h"
#import "engine/mps_types.h"

namespace alloy::engine {

// The lowering's result: a tensor for each result of the op, or the operation of an op without results.
struct Nodes {
  Nodes(MPSGraphTensor* tensor) : tensor(tensor) {}
  Nodes(NSArray<MPSGraphTensor*>* tensors) : tensors(tensors) {}
  Nodes(MPSGraphOperation* operation) : operation(operation) {}

  MPSGraphTensor* tensor = nil;             // of an op with one result
  NSArray<MPSGraphTensor*>* tensors = nil;  // of an op with several
  MPSGraphOperation* operation = nil;       // of an op without results
};

// True if the framework has a selector for the op, whose row says `composed`; otherwise other ops replace it. Attention
// is the only such op (attention.mm).
bool has_selector(const ir::Op& op);

#define ALLOY_ROW(op, ...) Nodes lower_##op(Lowering& lowering, const ir::Op& op, NSString* name);
#include "ir/ops.def"

}  // namespace alloy::engine
