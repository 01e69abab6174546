// Control flow: order of side effects and conditional parts.

#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Builds the ops that depend on others and returns their results.
typedef NSArray<MPSGraphTensor *> *_Nonnull (^MPSGraphControlFlowDependencyBlock)(void);

/// Blocks are called while the graph is built, before the method returns.
@interface MPSGraph (MPSGraphControlFlowOps)

/// The ops built by the block run after `operations`.
- (NSArray<MPSGraphTensor *> *)controlDependencyWithOperations:(NSArray<MPSGraphOperation *> *)operations
    dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
    name:(NSString *_Nullable)name;

@end

NS_ASSUME_NONNULL_END
