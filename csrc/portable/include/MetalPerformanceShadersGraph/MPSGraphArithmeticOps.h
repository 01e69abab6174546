// Elementwise arithmetic with broadcasting. The unary and binary ops are rows of the op table ops.def, which this file
// turns into methods.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// Files cannot be included where pointers are nonnull by default, so the macros name it.

/// Elementwise ops. Operands must have one element type, and broadcast by NumPy's rule. In arithmetic with numbers a
/// bool is 0 or 1. Sums, products, quotients, negatives, absolute values, equality and selection also accept complex
/// numbers.
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

/// x with its imaginary part negated; x itself for a real tensor.
- (MPSGraphTensor*)conjugateWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// The real part of each element: Float32 for ComplexFloat32.
- (MPSGraphTensor*)realPartOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// The imaginary part of each element; zeros for a real tensor.
- (MPSGraphTensor*)imaginaryPartOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// Complex numbers from two real tensors, Float32 or Float16, which broadcast.
- (MPSGraphTensor*)complexTensorWithRealTensor:(MPSGraphTensor*)realTensor
                               imaginaryTensor:(MPSGraphTensor*)imaginaryTensor
                                          name:(NSString* _Nullable)name;

/// The real parts and then the imaginary parts along the last dimension, which doubles.
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
