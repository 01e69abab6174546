// The lowering of each op: lower_NAME for a row NAME of ops.def. Each family has a file; table.mm makes the lowerings
// of table ops from their rows. A row without a lowering does not link.
#pragma once

#import "engine/lowering/lowering.h"
#import "engine/mps_types.h"

namespace alloy::engine {

// What an op became: a tensor for each of its results, or, of an op without results, the operation.
struct Nodes {
  Nodes(MPSGraphTensor* tensor) : tensor(tensor) {}
  Nodes(NSArray<MPSGraphTensor*>* tensors) : tensors(tensors) {}
  Nodes(MPSGraphOperation* operation) : operation(operation) {}

  MPSGraphTensor* tensor = nil;             // of one result
  NSArray<MPSGraphTensor*>* tensors = nil;  // of several
  MPSGraphOperation* operation = nil;       // of none
};

#define ALLOY_ROW(op, ...) Nodes lower_##op(Lowering& lowering, const ir::Op& op, NSString* name);
#include "ir/ops.def"

}  // namespace alloy::engine
