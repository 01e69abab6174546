// Inverses of matrices.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Inverses of matrices.
@interface MPSGraph (MPSGraphMatrixInverseOps)

/// Inverts the square matrices along the last two dimensions. A singular matrix gives infinities, NaN, or large numbers
/// from rounding errors.
- (MPSGraphTensor*)inverseOfTensor:(MPSGraphTensor*)inputTensor name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
