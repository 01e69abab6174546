// Inverses of matrices.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Inverses.
@interface MPSGraph (MPSGraphMatrixInverseOps)

/// The inverse of the square matrices over the last two dimensions; of a singular one infinities and NaN, or what
/// rounding makes of it.
- (MPSGraphTensor*)inverseOfTensor:(MPSGraphTensor*)inputTensor name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
