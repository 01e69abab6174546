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

/// The systems that a package can be made for.
typedef NS_ENUM(NSUInteger, MPSGraphDeploymentPlatform) {
  MPSGraphDeploymentPlatformMacOS = 0,
  MPSGraphDeploymentPlatformIOS = 1,
  MPSGraphDeploymentPlatformTvOS = 2,
  MPSGraphDeploymentPlatformVisionOS = 3,
};

/// Wishes for a package. Those of this framework are of no system, so that only `append` matters.
@interface MPSGraphExecutableSerializationDescriptor : MPSGraphObject {
 @package
  void* _impl;
}

/// Whether to add to a package that is there, which raises: it holds one executable. NO at first: it is replaced.
@property(atomic, readwrite) BOOL append;

/// The system to run on; macOS at first.
@property(atomic, readwrite) MPSGraphDeploymentPlatform deploymentPlatform;

/// The earliest version of that system, copied; empty at first, for the latest.
@property(atomic, readwrite, copy) NSString* minimumDeploymentTarget;

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

/// Loads what serializeToMPSGraphPackageAtURL wrote; raises where the file is missing, foreign, damaged or newer. It
/// has variables of its own, with the values of the file, and computes on the device that it is first used on.
- (instancetype)initWithMPSGraphPackageAtURL:(NSURL*)mpsgraphPackageURL
                       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Raises: packages of Core ML cannot be read here.
- (instancetype)initWithCoreMLPackageAtURL:(NSURL*)coreMLPackageURL
                     compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Writes the graph, and the values that its variables have now, into a file; raises where that is not possible, and
/// leaves a file that is there as it was.
- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url
                             descriptor:(MPSGraphExecutableSerializationDescriptor* _Nullable)descriptor;

/// Compiles ahead for concrete input types; only looks at types that are not known in full.
- (void)specializeWithDevice:(MPSGraphDevice* _Nullable)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Types of the results for types of the inputs, open where those leave them open.
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
