// Parts of matrices.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Ops on the matrices along the last two dimensions.
@interface MPSGraph (MPSGraphLinearAlgebraOps)

/// Keeps the band of numLower diagonals below the main one and numUpper above it, and sets all other elements to zero;
/// a negative number keeps all diagonals on its side.
- (MPSGraphTensor*)bandPartWithTensor:(MPSGraphTensor*)inputTensor
                             numLower:(NSInteger)numLower
                             numUpper:(NSInteger)numUpper
                                 name:(NSString* _Nullable)name;

/// The same with the numbers in tensors whose elements are known when the op is added.
- (MPSGraphTensor*)bandPartWithTensor:(MPSGraphTensor*)inputTensor
                       numLowerTensor:(MPSGraphTensor*)numLowerTensor
                       numUpperTensor:(MPSGraphTensor*)numUpperTensor
                                 name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
