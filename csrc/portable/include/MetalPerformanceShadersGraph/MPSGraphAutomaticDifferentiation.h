// Gradients of graphs.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Automatic differentiation.
@interface MPSGraph (MPSGraphGradientOps)

/// Gradients of the sum of `primaryTensor` with respect to each of `tensors`, by tensor; raises if it does not depend
/// on one of them.
- (NSDictionary<MPSGraphTensor*, MPSGraphTensor*>*)gradientForPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                                                withTensors:(NSArray<MPSGraphTensor*>*)tensors
                                                                       name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
