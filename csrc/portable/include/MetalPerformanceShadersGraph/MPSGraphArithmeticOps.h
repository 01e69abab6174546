// Elementwise arithmetic with broadcasting. The unary and binary ops come from the op table ops.def, one line
// each; this file turns the rows into methods.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// Files cannot be included where pointers are nonnull by default, so the macros say it.

/// Elementwise ops; operands must have one element type and broadcast by the rule of NumPy. In arithmetic with a number
/// a bool is 0 or 1. Sums, products, quotients, negatives, absolute values, equality and selection take complex
/// numbers, too.
@interface MPSGraph (MPSGraphArithmeticOps)

#define ALLOY_UNARY(op, stem, ...) \
  -(MPSGraphTensor* _Nonnull)stem##WithTensor : (MPSGraphTensor* _Nonnull)tensor name : (NSString* _Nullable)name;
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(op, stem, ...)                                                                            \
  -(MPSGraphTensor* _Nonnull)stem##WithPrimaryTensor : (MPSGraphTensor* _Nonnull)primaryTensor secondaryTensor \
      : (MPSGraphTensor* _Nonnull)secondaryTensor name : (NSString* _Nullable)name;
#define ALLOY_COMPARISON(op, stem, ...)                                                                        \
  -(MPSGraphTensor* _Nonnull)stem##WithPrimaryTensor : (MPSGraphTensor* _Nonnull)primaryTensor secondaryTensor \
      : (MPSGraphTensor* _Nonnull)secondaryTensor name : (NSString* _Nullable)name;
#include <MetalPerformanceShadersGraph/ops.def>

NS_ASSUME_NONNULL_BEGIN

/// 1 / sqrt(x); the newer name of reverseSquareRoot.
- (MPSGraphTensor*)reciprocalSquareRootWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// |x|^2, real.
- (MPSGraphTensor*)absoluteSquareWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// x with its imaginary part negated; of a real tensor x itself, as of the four below.
- (MPSGraphTensor*)conjugateWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// The real part of each element, as Float32 of ComplexFloat32.
- (MPSGraphTensor*)realPartOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// The imaginary part of each element; zeros of a real tensor.
- (MPSGraphTensor*)imaginaryPartOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// Complex numbers of two real tensors, Float32 or Float16, which broadcast.
- (MPSGraphTensor*)complexTensorWithRealTensor:(MPSGraphTensor*)realTensor
                               imaginaryTensor:(MPSGraphTensor*)imaginaryTensor
                                          name:(NSString* _Nullable)name;

/// The real parts and then the imaginary ones along the last dimension, which doubles.
- (MPSGraphTensor*)planarTensorWithComplexTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// Elements of the second operand where the predicate is not zero, else of the third.
- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicateTensor
                         truePredicateTensor:(MPSGraphTensor*)truePredicateTensor
                        falsePredicateTensor:(MPSGraphTensor*)falseSelectTensor
                                        name:(NSString* _Nullable)name;

/// Elements limited to [min, max].
- (MPSGraphTensor*)clampWithTensor:(MPSGraphTensor*)tensor
                    minValueTensor:(MPSGraphTensor*)minValueTensor
                    maxValueTensor:(MPSGraphTensor*)maxValueTensor
                              name:(NSString* _Nullable)name;

NS_ASSUME_NONNULL_END

@end
