// Reductions. They come from the op table ops.def, one line each; this file turns the rows into methods.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

// Files cannot be included where pointers are nonnull by default, so the macros say it.

/// Reductions; reduced dimensions stay with length 1, nil axes mean all, negative ones count from the end.
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
