// Work along axes, also on systems that limit the ranks or axes. Private to the engine.
#pragma once

#include <functional>

#import "engine/lowering/lowering.h"

namespace alloy::engine {

// The axes of an op, counted from the front, in ascending order, without repeats.
ir::Dims axes_of(const ir::Op& op);

// Reduces `x` over the axes, which ascend; they stay, with length 1.
MPSGraphTensor* reduced(const Lowering& lowering, const Shaped& x, const ir::Dims& axes, const Reduction& reduction,
                        NSString* name);
// Reduces the first operand of an op over the op's axes.
MPSGraphTensor* reduced(const Lowering& lowering, const ir::Op& op, const Reduction& reduction, NSString* name);

// A computation of the framework along one axis.
using AlongAxis = std::function<MPSGraphTensor*(MPSGraphTensor* x, NSInteger axis, NSString* name)>;
// Runs `work` on the first operand of an op along the op's axis.
MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, const AlongAxis& work, NSString* name);
// The same for work that a quirk forbids along some axes: with `is_flat`, the operand is reshaped to three axes and
// `work` runs along the middle one.
MPSGraphTensor* along_axis(const Lowering& lowering, const ir::Op& op, bool is_flat, const AlongAxis& work,
                           NSString* name);

}  // namespace alloy::engine
