// Control flow: order of side effects, conditional parts and loops.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Builds the ops that depend on others and returns their results.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphControlFlowDependencyBlock)(void);

/// Builds one branch of a conditional and returns its results.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphIfThenElseBlock)(void);

/// Builds the condition of a loop: stores the values to pass on in `resultTensors`, and returns the predicate.
typedef MPSGraphTensor* _Nonnull (^MPSGraphWhileBeforeBlock)(NSArray<MPSGraphTensor*>* inputTensors,
                                                             NSMutableArray<MPSGraphTensor*>* resultTensors);

/// Builds an iteration from the values passed on, and returns the values for the next one.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphWhileAfterBlock)(NSArray<MPSGraphTensor*>* bodyBlockArguments);

/// Builds an iteration of a counted loop, and returns the values for the next one.
typedef NSArray<MPSGraphTensor*>* _Nonnull (^MPSGraphForLoopBodyBlock)(MPSGraphTensor* index,
                                                                       NSArray<MPSGraphTensor*>* iterationArguments);

/// Blocks are called while the graph is built, before the method returns.
@interface MPSGraph (MPSGraphControlFlowOps)

/// The ops built by the block run after `operations`.
- (NSArray<MPSGraphTensor*>*)controlDependencyWithOperations:(NSArray<MPSGraphOperation*>*)operations
                                              dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
                                                        name:(NSString* _Nullable)name;

/// Runs one of the branches, depending on the predicate. Both return the same number of tensors of the same types.
/// Without an else branch there are no results.
- (NSArray<MPSGraphTensor*>*)ifWithPredicateTensor:(MPSGraphTensor*)predicateTensor
                                         thenBlock:(MPSGraphIfThenElseBlock)thenBlock
                                         elseBlock:(MPSGraphIfThenElseBlock _Nullable)elseBlock
                                              name:(NSString* _Nullable)name;

/// Each iteration runs `before` on the values of the last one, at first on `initialInputs`. If its predicate, of one
/// element, is not zero, `after` turns the results into the values of the next iteration; else they are the loop's
/// results.
- (NSArray<MPSGraphTensor*>*)whileWithInitialInputs:(NSArray<MPSGraphTensor*>*)initialInputs
                                             before:(MPSGraphWhileBeforeBlock)before
                                              after:(MPSGraphWhileAfterBlock)after
                                               name:(NSString* _Nullable)name;

/// The body runs for the lower bound, then for each number a step higher, below the upper bound. Bounds and step have
/// one integer type and one element each, and the step is positive. The results are the values that the last iteration
/// returned, or the initial arguments; they keep their types.
- (NSArray<MPSGraphTensor*>*)forLoopWithLowerBound:(MPSGraphTensor*)lowerBound
                                        upperBound:(MPSGraphTensor*)upperBound
                                              step:(MPSGraphTensor*)step
                              initialBodyArguments:(NSArray<MPSGraphTensor*>*)initialBodyArguments
                                              body:(MPSGraphForLoopBodyBlock)body
                                              name:(NSString* _Nullable)name;

/// The same for the numbers from 0 to numberOfIterations - 1.
- (NSArray<MPSGraphTensor*>*)forLoopWithNumberOfIterations:(MPSGraphTensor*)numberOfIterations
                                      initialBodyArguments:(NSArray<MPSGraphTensor*>*)initialBodyArguments
                                                      body:(MPSGraphForLoopBodyBlock)body
                                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
