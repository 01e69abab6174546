// What stands for a variable. Private to the engine.
#pragma once

#import "engine/lowering/lowering.h"

namespace alloy::engine {

// The tensor of a variable in the framework's graph of `owner`; what the variable begins with goes to the device when
// the tensor is made.
MPSGraphTensor* variable_tensor(Graph& owner, const ir::Op& variable);

// Zeros, for what only has a shape.
MPSGraphTensor* zeros(const Lowering& lowering, const ir::Type& type);

}  // namespace alloy::engine
