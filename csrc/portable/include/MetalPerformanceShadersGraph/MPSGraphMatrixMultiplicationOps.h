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

@end

NS_ASSUME_NONNULL_END
