// Replacements for ops that Apple's framework refuses or gets wrong (ir/quirks.def). Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <functional>

#include "ir/quirks.h"
#include "ir/shape.h"

namespace alloy::engine {

// A tensor of the framework and its dimensions.
struct Shaped {
  MPSGraphTensor* tensor;
  ir::Dims dims;
};

// A reduction of the framework over the axes, which stay with length 1.
using Reduction = std::function<MPSGraphTensor*(MPSGraphTensor* x, NSArray<NSNumber*>* axes, NSString* name)>;

// Reduces any number of axes, which ascend, on a tensor reshaped to two or three axes.
MPSGraphTensor* reduced_flat(MPSGraph* graph, const Shaped& x, const ir::Dims& axes, const Reduction& reduction,
                             NSString* name);
// Reshapes an operand of a matrix product to at most one leading axis; `batch` are the product's leading dimensions.
Shaped flat_operand(MPSGraph* graph, const Shaped& x, const ir::Dims& batch);
// A matrix product computed in pieces whose inner extent is at most `inner` and whose rows and columns are at most
// `outer`.
MPSGraphTensor* product_in_pieces(MPSGraph* graph, const Shaped& a, const Shaped& b, int64_t inner, int64_t outer,
                                  NSString* name);
// a / b of int32 or int64, truncated toward zero; the framework's quotient is only close to it.
MPSGraphTensor* exact_quotient(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype, NSString* name);
// The sign of x: x if x is zero, and zero if x is NaN. The framework refuses int64 and is wrong for -0.
MPSGraphTensor* sign_by_comparison(MPSGraph* graph, MPSGraphTensor* x, ir::DType dtype, NSString* name);
// a^b for every a; the framework's power is right only for a >= 0.
MPSGraphTensor* power_of_any_base(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype,
                                  NSString* name);
// Converts x from the type `from` to the type `to`; returns x if they are equal.
MPSGraphTensor* as_type(MPSGraph* graph, MPSGraphTensor* x, ir::DType from, ir::DType to, NSString* name = nil);
// Replaces NaN among normal random numbers by the least normal number.
MPSGraphTensor* least_normal_for_nan(MPSGraph* graph, MPSGraphTensor* x, double mean, double deviation, ir::DType dtype,
                                     NSString* name);

// The elements of `x` from `start` on, `length` of them, along an axis.
Shaped slice_along(MPSGraph* graph, const Shaped& x, int64_t axis, int64_t start, int64_t length);

}  // namespace alloy::engine
