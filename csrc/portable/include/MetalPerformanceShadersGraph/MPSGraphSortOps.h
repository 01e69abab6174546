// The order of elements along an axis.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sorts the elements along the axis in ascending or descending order; argSort returns their Int32 positions before the
/// sort. Equal elements keep their order, and NaN counts as the greatest; Apple documents neither. The element of an
/// axis tensor must be known when the op is added.
@interface MPSGraph (MPSGraphSortOps)

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor
                             axis:(NSInteger)axis
                       descending:(BOOL)descending
                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor
                       axisTensor:(MPSGraphTensor*)axisTensor
                       descending:(BOOL)descending
                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor
                       axisTensor:(MPSGraphTensor*)axisTensor
                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                                axis:(NSInteger)axis
                          descending:(BOOL)descending
                                name:(NSString* _Nullable)name;

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                          axisTensor:(MPSGraphTensor*)axisTensor
                          descending:(BOOL)descending
                                name:(NSString* _Nullable)name;

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                          axisTensor:(MPSGraphTensor*)axisTensor
                                name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
