// Executables: compiled graphs.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Called when a run is over, with its results; the error is nil on success.
typedef void (^MPSGraphExecutableCompletionHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);

/// Called when a run is about to start, with the results it will fill.
typedef void (^MPSGraphExecutableScheduledHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);

/// Wishes for a run of an executable.
@interface MPSGraphExecutableExecutionDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Called before the run starts, copied; nil at first.
@property(atomic, readwrite) MPSGraphExecutableScheduledHandler scheduledHandler;

/// Called after the run, copied; nil at first.
@property(atomic, readwrite) MPSGraphExecutableCompletionHandler completionHandler;

/// Whether an asynchronous run blocks the caller; NO at first.
@property(atomic, readwrite) BOOL waitUntilCompleted;

/// A run starts no earlier than the value of `event` has reached `value`; may be given several times.
- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;

/// Sets the value of `event` when a run reaches the stage; may be given several times.
- (void)signalEvent:(id<MTLSharedEvent>)event
    atExecutionEvent:(MPSGraphExecutionStage)executionStage
               value:(uint64_t)value;

@end

/// A compiled graph; inputs and results are in the order of feedTensors and targetTensors.
@interface MPSGraphExecutable : NSObject {
 @package
  void* _impl;
}

/// SynchronizeResults at first.
@property(atomic, readwrite) MPSGraphOptions options;

/// The fed tensors, in the order of the inputs.
@property(atomic, readonly, nullable) NSArray<MPSGraphTensor*>* feedTensors;

/// The computed tensors, in the order of the results.
@property(atomic, readonly, nullable) NSArray<MPSGraphTensor*>* targetTensors;

/// Compiles ahead for concrete input types.
- (void)specializeWithDevice:(MPSGraphDevice* _Nullable)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Types of the results for concrete input types.
- (NSArray<MPSGraphShapedType*>* _Nullable)getOutputTypesWithDevice:(MPSGraphDevice* _Nullable)device
                                                         inputTypes:(NSArray<MPSGraphType*>*)inputTypes
                                              compilationDescriptor:
                                                  (MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Runs and waits; allocates the results when `resultsArray` is nil.
- (NSArray<MPSGraphTensorData*>*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                            inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                           resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
                                    executionDescriptor:
                                        (MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;

/// Runs without waiting: the values are valid when the completion handler is called.
- (NSArray<MPSGraphTensorData*>*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                 inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                                resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
                                         executionDescriptor:
                                             (MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;

/// Adds the run to a command buffer; values are valid when it is complete.
- (NSArray<MPSGraphTensorData*>*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                           inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                          resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
                                   executionDescriptor:
                                       (MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;

@end

NS_ASSUME_NONNULL_END
