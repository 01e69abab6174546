// Indices as rows of zeros with a one.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Of an integer tensor: a new axis of `depth`, the last or the given one, along which `onValue` (1) stands at the
/// index and `offValue` (0) elsewhere. All are `offValue` for an index outside. The type is Float32 unless one is
/// given. An axis of -1, cast to NSUInteger, is the last.
@interface MPSGraph (MPSGraphOneHotOps)

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                  dataType:(MPSDataType)dataType
                                   onValue:(double)onValue
                                  offValue:(double)offValue
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                  dataType:(MPSDataType)dataType
                                   onValue:(double)onValue
                                  offValue:(double)offValue
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                  dataType:(MPSDataType)dataType
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                      axis:(NSUInteger)axis
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                  dataType:(MPSDataType)dataType
                                      name:(NSString* _Nullable)name;

- (MPSGraphTensor*)oneHotWithIndicesTensor:(MPSGraphTensor*)indicesTensor
                                     depth:(NSUInteger)depth
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
