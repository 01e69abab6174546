// Running totals.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Each element combined with all before it along the axis, or with `reverse` with all behind it. With `exclusive` the
/// element itself is left out; then the first result is 0 of sums, 1 of products, the greatest finite number of minima
/// and the least of maxima. These two skip NaN. The integer of an axis tensor must be known when the op is added.
@interface MPSGraph (MPSGraphCumulativeOps)

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                      axis:(NSInteger)axis
                                 exclusive:(BOOL)exclusive
                                   reverse:(BOOL)reverse
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                axisTensor:(MPSGraphTensor*)axisTensor
                                 exclusive:(BOOL)exclusive
                                   reverse:(BOOL)reverse
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                axisTensor:(MPSGraphTensor*)axisTensor
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString* _Nullable)name;

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
