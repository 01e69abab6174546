// Reductions. Each is a row of the op table, ops.def; this file makes methods of the rows.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// A file cannot be included between NS_ASSUME_NONNULL_BEGIN and END, so the macros write _Nonnull.

/// Reductions; reduced dimensions stay with length 1, nil axes mean all axes, negative axes count from the end.
@interface MPSGraph (MPSGraphReductionOps)

#define ALLOY_REDUCTION(op, stem, ...)                                                                       \
  -(MPSGraphTensor* _Nonnull)stem##WithTensor : (MPSGraphTensor* _Nonnull)tensor axis : (NSInteger)axis name \
      : (NSString* _Nullable)name;                                                                           \
  -(MPSGraphTensor* _Nonnull)stem##WithTensor : (MPSGraphTensor* _Nonnull)tensor axes                        \
      : (NSArray<NSNumber*>* _Nullable)axes name : (NSString* _Nullable)name;
#define ALLOY_ARG_REDUCTION(op, stem, ...)                                                                   \
  -(MPSGraphTensor* _Nonnull)stem##WithTensor : (MPSGraphTensor* _Nonnull)tensor axis : (NSInteger)axis name \
      : (NSString* _Nullable)name;
#include <MetalPerformanceShadersGraph/ops.def>

@end
