// Running totals.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Combines each element with all elements before it along the axis, or, with `reverse`, with all elements behind it.
/// With `exclusive` the element itself is left out; then a sum begins with 0, a product with 1, a minimum with the
/// greatest finite number and a maximum with the least. Minimum and maximum skip NaN. The element of an axis tensor
/// must be known when the op is added.
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
