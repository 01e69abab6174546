// Random numbers by Philox 4x32-10, and dropout.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(uint64_t, MPSGraphRandomDistribution) {
  /// From min to below max; of integers from minInteger to maxInteger, both included.
  MPSGraphRandomDistributionUniform = 0,
  /// Of that mean and standardDeviation.
  MPSGraphRandomDistributionNormal = 1,
  /// The normal ones among those from min to max.
  MPSGraphRandomDistributionTruncatedNormal = 2,
};

/// How normal numbers are made of uniform ones; truncated ones are always made by InvCDF.
typedef NS_ENUM(uint64_t, MPSGraphRandomNormalSamplingMethod) {
  /// One of one, by the inverse of the cumulative distribution.
  MPSGraphRandomNormalSamplingInvCDF = 0,
  /// Two of two.
  MPSGraphRandomNormalSamplingBoxMuller = 1,
};

/// Which numbers are drawn. Its first values depend on the distribution that it is made for.
@interface MPSGraphRandomOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

@property(nonatomic, readwrite) MPSGraphRandomDistribution distribution;
/// Float32 and Float16, and Int32 of uniform numbers.
@property(nonatomic, readwrite) MPSDataType dataType;
/// 0 and 1 at first; -2 and 2 of normal distributions.
@property(nonatomic, readwrite) float min;
@property(nonatomic, readwrite) float max;
/// 0 and INT32_MAX at first; both 0 of normal distributions.
@property(nonatomic, readwrite) NSInteger minInteger;
@property(nonatomic, readwrite) NSInteger maxInteger;
/// 0 at first.
@property(nonatomic, readwrite) float mean;
/// That of the normal distribution before it is truncated. 1 at first; 0 of the uniform distribution.
@property(nonatomic, readwrite) float standardDeviation;
/// InvCDF at first.
@property(nonatomic, readwrite) MPSGraphRandomNormalSamplingMethod samplingMethod;

+ (instancetype _Nullable)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution
                                            dataType:(MPSDataType)dataType;

@end

/// A state is a tensor of Int32 and shape [7]: 1, then a counter of 128 bits and a key of 64 bits, lowest bits first.
/// Without a state or a seed, each run draws other numbers.
@interface MPSGraph (MPSGraphRandomOps)

/// The state that a seed stands for.
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

/// The same numbers in each run.
- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString* _Nullable)name;
- (MPSGraphTensor*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                    descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                          seed:(NSUInteger)seed
                                          name:(NSString* _Nullable)name;

/// The numbers, and the state that begins behind them: the counter has grown by one for every four of them.
- (NSArray<MPSGraphTensor*>*)randomTensorWithShape:(MPSShape*)shape
                                        descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                       stateTensor:(MPSGraphTensor*)state
                                              name:(NSString* _Nullable)name;
- (NSArray<MPSGraphTensor*>*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                             stateTensor:(MPSGraphTensor*)state
                                                    name:(NSString* _Nullable)name;

/// Float32 from 0 to below 1.
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

/// The tensor with zeros at elements that each run chooses anew, each with probability `rate`; the others are divided
/// by 1 - rate. Nothing flows back from zeros.
- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor rate:(double)rate name:(NSString* _Nullable)name;
- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor
                      rateTensor:(MPSGraphTensor*)rate
                            name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
