// Tensors of variables, and zeros. Private to the engine.
#pragma once

#import "engine/lowering/lowering.h"

namespace alloy::engine {

// The tensor of a variable in the framework's graph of `owner`. Making it copies the variable's initial value to the
// device.
MPSGraphTensor* variable_tensor(Graph& owner, const ir::Op& variable);

// Zeros of the type.
MPSGraphTensor* zeros(const Lowering& lowering, const ir::Type& type);

}  // namespace alloy::engine
