// Matrix products.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Matrix products.
@interface MPSGraph (MPSGraphMatrixMultiplicationOps)

/// Product of the last two dimensions; the leading ones broadcast.
- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                         secondaryTensor:(MPSGraphTensor*)secondaryTensor
                                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
