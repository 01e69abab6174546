// What stands in for what Apple's framework refuses or gets wrong (ir/quirks.def). Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <functional>

#include "ir/quirks.h"
#include "ir/shape.h"

namespace alloy::engine {

// A tensor of the framework and its shape.
struct Shaped {
  MPSGraphTensor* tensor;
  ir::Dims dims;
};

// What the framework computes of a tensor along these axes, keeping them with size 1.
using Reduction = std::function<MPSGraphTensor*(MPSGraphTensor* x, NSArray<NSNumber*>* axes, NSString* name)>;

// Any number of axes as two or three; `axes` ascend.
MPSGraphTensor* reduced_flat(MPSGraph* graph, const Shaped& x, const ir::Dims& axes, const Reduction& reduction,
                             NSString* name);
// The operands of a matrix product of the leading dimensions `batch` with at most one leading axis of their own.
Shaped flat_operand(MPSGraph* graph, const Shaped& x, const ir::Dims& batch);
// The matrix product in pieces whose inner extent is at most `inner` and whose rows and columns are at most `outer`.
MPSGraphTensor* product_in_pieces(MPSGraph* graph, const Shaped& a, const Shaped& b, int64_t inner, int64_t outer,
                                  NSString* name);
// a / b of int32 or int64, truncated toward zero; the framework's quotient is only near that.
MPSGraphTensor* exact_quotient(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype, NSString* name);
// The sign of x: x itself if x is zero, and zero if x is NaN. The framework refuses int64 and is wrong for -0.
MPSGraphTensor* sign_by_comparison(MPSGraph* graph, MPSGraphTensor* x, ir::DType dtype, NSString* name);
// a^b for every a; the framework's power is right for a >= 0 only.
MPSGraphTensor* power_of_any_base(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype,
                                  NSString* name);
// x, which is of type `from`, as `to`; x itself where they are the same.
MPSGraphTensor* as_type(MPSGraph* graph, MPSGraphTensor* x, ir::DType from, ir::DType to, NSString* name = nil);
// Normal random numbers, the least of which stands for NaN.
MPSGraphTensor* least_normal_for_nan(MPSGraph* graph, MPSGraphTensor* x, double mean, double deviation, ir::DType dtype,
                                     NSString* name);

// The part of `x` from `start` on, along an axis.
Shaped slice_along(MPSGraph* graph, const Shaped& x, int64_t axis, int64_t start, int64_t length);

}  // namespace alloy::engine
