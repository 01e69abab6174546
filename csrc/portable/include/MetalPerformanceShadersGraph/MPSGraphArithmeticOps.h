// Elementwise arithmetic with broadcasting. The unary and binary ops come from the op table ops.def, one line
// each; this file turns the rows into methods.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// Files cannot be included where pointers are nonnull by default, so the macros say it.

/// Elementwise ops; operands must have one element type and broadcast by the rule of NumPy. In arithmetic with a number
/// a bool is 0 or 1.
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
