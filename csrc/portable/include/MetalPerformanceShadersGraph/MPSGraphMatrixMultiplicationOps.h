// Matrix products, and distances between rows of bits.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Matrix products, and distances between rows of bits.
@interface MPSGraph (MPSGraphMatrixMultiplicationOps)

/// Product of the matrices along the last two dimensions; the leading dimensions broadcast.
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString* _Nullable)name;

/// Counts the bits in which row i of the first integers (..., M, K) differs from row j of the second (..., N, K). The
/// result (..., M, N) is UInt16 or UInt32; the leading dimensions broadcast.
- (MPSGraphTensor*)HammingDistanceWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                    secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                     resultDataType:(MPSDataType)resultDataType
                                               name:(NSString* _Nullable)name;

/// Attention: softmax(scale * Q K^T + mask) V over the last two dimensions; the leading dimensions broadcast. Q is
/// (..., N, F), K (..., M, F), V (..., M, E), the result (..., N, E). The mask broadcasts to the scores (..., N, M) and
/// is added to them. Float16 operands are computed in Float32 and the result is rounded once. Since macOS 15.
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
