// Matrix products, and distances between rows of bits.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Matrix products, and distances between rows of bits.
@interface MPSGraph (MPSGraphMatrixMultiplicationOps)

/// Product of the last two dimensions; the leading ones broadcast.
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString* _Nullable)name;

/// Of integers (..., M, K) and (..., N, K) the number of bits in which row i of the first differs from row j of the
/// second, (..., M, N); the leading dimensions broadcast. The result is UInt16 or UInt32.
- (MPSGraphTensor*)HammingDistanceWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                    secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                     resultDataType:(MPSDataType)resultDataType
                                               name:(NSString* _Nullable)name;

/// Attention: softmax(scale * Q K^T + mask) V over the last two dimensions; the leading ones broadcast. Q is (..., N,
/// F), K (..., M, F), V (..., M, E), the result (..., N, E). The mask is added to the scores (..., N, M), to which it
/// broadcasts. Halves are computed in float32 and rounded once. Since macOS 15.
- (MPSGraphTensor*)scaledDotProductAttentionWithQueryTensor:(MPSGraphTensor*)queryTensor
                                                  keyTensor:(MPSGraphTensor*)keyTensor
                                                valueTensor:(MPSGraphTensor*)valueTensor
                                                 maskTensor:(MPSGraphTensor* _Nullable)maskTensor
                                                      scale:(float)scale
                                                       name:(NSString* _Nullable)name;
/// The same without a mask.
- (MPSGraphTensor*)scaledDotProductAttentionWithQueryTensor:(MPSGraphTensor*)queryTensor
                                                  keyTensor:(MPSGraphTensor*)keyTensor
                                                valueTensor:(MPSGraphTensor*)valueTensor
                                                      scale:(float)scale
                                                       name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
