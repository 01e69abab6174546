// The order of elements along an axis.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The elements in ascending or descending order along the axis, or the Int32 positions that they come from. Equal
/// elements keep their order; NaN counts as the greatest. Neither is documented by Apple. The integer of an axis tensor
/// must be known when the op is added.
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
