// What is computed along axes, on systems that cannot do so for every rank, too. Private to the engine.
#pragma once

#include <functional>

#import "engine/lowering/lowering.h"

namespace alloy::engine {

// The axes of an op, from the front, in ascending order and each once.
ir::Dims axes_of(const ir::Op& op);

// `x` reduced over these axes, which ascend; they stay, with size 1.
MPSGraphTensor* reduced(const Lowering& lowering, const Shaped& x, const ir::Dims& axes, const Reduction& reduction,
                        NSString* name);
// The first operand of an op reduced over its axes.
MPSGraphTensor* reduced(const Lowering& lowering, const ir::Op& op, const Reduction& reduction, NSString* name);

// What the framework computes of a tensor along one axis.
using AlongAxis = std::function<MPSGraphTensor*(MPSGraphTensor* x, NSInteger axis, NSString* name)>;
// That of the first operand of an op, along its axis.
MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, const AlongAxis& work, NSString* name);
// The same, of what a quirk allows along some axes only: with `is_flat` of three axes, along the middle one.
MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, bool is_flat, const AlongAxis& work,
                           NSString* name);

}  // namespace alloy::engine
