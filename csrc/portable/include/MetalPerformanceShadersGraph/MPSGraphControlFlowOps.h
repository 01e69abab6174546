// Control flow: order of side effects and conditional parts.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Builds the ops that depend on others and returns their results.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphControlFlowDependencyBlock)(void);

/// Builds one branch of a conditional and returns its results.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphIfThenElseBlock)(void);

/// Blocks are called while the graph is built, before the method returns.
@interface MPSGraph (MPSGraphControlFlowOps)

/// The ops built by the block run after `operations`.
- (NSArray<MPSGraphTensor*>*)controlDependencyWithOperations:(NSArray<MPSGraphOperation*>*)operations
                                              dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
                                                        name:(NSString* _Nullable)name;

/// Runs one of the branches by the value of the predicate; both return the same number of tensors of the
/// same types. Without an else branch there are no results.
- (NSArray<MPSGraphTensor*>*)ifWithPredicateTensor:(MPSGraphTensor*)predicateTensor
                                         thenBlock:(MPSGraphIfThenElseBlock)thenBlock
                                         elseBlock:(MPSGraphIfThenElseBlock _Nullable)elseBlock
                                              name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
