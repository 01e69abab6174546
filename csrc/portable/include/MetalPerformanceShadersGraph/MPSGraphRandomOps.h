// Random numbers by Philox 4x32-10, and dropout.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(uint64_t, MPSGraphRandomDistribution) {
  /// Numbers from min to below max; integers from minInteger to maxInteger, both included.
  MPSGraphRandomDistributionUniform = 0,
  /// Normal numbers with the given mean and standardDeviation.
  MPSGraphRandomDistributionNormal = 1,
  /// Normal numbers between min and max; others are not drawn.
  MPSGraphRandomDistributionTruncatedNormal = 2,
};

/// The way from uniform numbers to normal ones; truncated ones always use InvCDF.
typedef NS_ENUM(uint64_t, MPSGraphRandomNormalSamplingMethod) {
  /// Makes one normal number from one uniform number, by the inverse of the cumulative distribution.
  MPSGraphRandomNormalSamplingInvCDF = 0,
  /// Makes two normal numbers from two uniform numbers.
  MPSGraphRandomNormalSamplingBoxMuller = 1,
};

/// The distribution of random numbers. Its initial values depend on the kind of distribution.
@interface MPSGraphRandomOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

@property(nonatomic, readwrite) MPSGraphRandomDistribution distribution;
/// Float32 or Float16; uniform numbers may be Int32.
@property(nonatomic, readwrite) MPSDataType dataType;
/// 0 and 1 by default; -2 and 2 for normal distributions.
@property(nonatomic, readwrite) float min;
@property(nonatomic, readwrite) float max;
/// 0 and INT32_MAX by default; both 0 for normal distributions.
@property(nonatomic, readwrite) NSInteger minInteger;
@property(nonatomic, readwrite) NSInteger maxInteger;
/// 0 by default.
@property(nonatomic, readwrite) float mean;
/// The standard deviation before truncation. 1 by default; 0 for the uniform distribution.
@property(nonatomic, readwrite) float standardDeviation;
/// InvCDF by default.
@property(nonatomic, readwrite) MPSGraphRandomNormalSamplingMethod samplingMethod;

+ (instancetype _Nullable)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution
                                            dataType:(MPSDataType)dataType;

@end

/// A state is an Int32 tensor of shape [7]: 1, then a counter of 128 bits and a key of 64 bits, lowest bits first.
/// Without a state or a seed, each run draws other numbers.
@interface MPSGraph (MPSGraphRandomOps)

/// The state that belongs to a seed.
- (MPSGraphTensor*)randomPhiloxStateTensorWithSeed:(NSUInteger)seed name:(NSString* _Nullable)name;

- (MPSGraphTensor*)randomPhiloxStateTensorWithCounterLow:(NSUInteger)counterLow
                                             counterHigh:(NSUInteger)counterHigh
                                                     key:(NSUInteger)key
                                                    name:(NSString* _Nullable)name;

- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                    descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                          name:(NSString* _Nullable)name;

/// Draws the same numbers in each run.
- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                    descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                          seed:(NSUInteger)seed
                                          name:(NSString* _Nullable)name;

/// Returns the numbers and the next state: the counter grows by one for every four numbers.
- (NSArray<MPSGraphTensor*>*)randomTensorWithShape:(MPSShape*)shape
                                        descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                       stateTensor:(MPSGraphTensor*)state
                                              name:(NSString* _Nullable)name;
- (NSArray<MPSGraphTensor*>*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                             stateTensor:(MPSGraphTensor*)state
                                                    name:(NSString* _Nullable)name;

/// Float32 numbers from 0 to below 1.
- (MPSGraphTensor*)randomUniformTensorWithShape:(MPSShape*)shape name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomUniformTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomUniformTensorWithShape:(MPSShape*)shape seed:(NSUInteger)seed name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomUniformTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                                 seed:(NSUInteger)seed
                                                 name:(NSString* _Nullable)name;
- (NSArray<MPSGraphTensor*>*)randomUniformTensorWithShape:(MPSShape*)shape
                                              stateTensor:(MPSGraphTensor*)state
                                                     name:(NSString* _Nullable)name;
- (NSArray<MPSGraphTensor*>*)randomUniformTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                                    stateTensor:(MPSGraphTensor*)state
                                                           name:(NSString* _Nullable)name;

/// Sets each element to zero with probability `rate`, anew in each run, and divides the other elements by 1 - rate. No
/// gradient flows back through zeroed elements.
- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor rate:(double)rate name:(NSString* _Nullable)name;
- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor
                      rateTensor:(MPSGraphTensor*)rate
                            name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
