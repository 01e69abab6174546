// Executables: compiled graphs.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// A block called when a run is over, with its results; the error is nil on success.
typedef void (^MPSGraphExecutableCompletionHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);

/// A block called when a run is about to start, with the results that the run will fill.
typedef void (^MPSGraphExecutableScheduledHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);

/// Options for a run of an executable.
@interface MPSGraphExecutableExecutionDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// The block called before the run starts, copied; nil by default.
@property(atomic, readwrite) MPSGraphExecutableScheduledHandler scheduledHandler;

/// The block called after the run, copied; nil by default.
@property(atomic, readwrite) MPSGraphExecutableCompletionHandler completionHandler;

/// Whether an asynchronous run blocks the caller; NO by default.
@property(atomic, readwrite) BOOL waitUntilCompleted;

/// Makes a run wait until `event` reaches `value`; may be called several times.
- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;

/// Makes a run set the value of `event` when it reaches the stage; may be called several times.
- (void)signalEvent:(id<MTLSharedEvent>)event
    atExecutionEvent:(MPSGraphExecutionStage)executionStage
               value:(uint64_t)value;

@end

/// The systems for which a package can be made.
typedef NS_ENUM(NSUInteger, MPSGraphDeploymentPlatform) {
  MPSGraphDeploymentPlatformMacOS = 0,
  MPSGraphDeploymentPlatformIOS = 1,
  MPSGraphDeploymentPlatformTvOS = 2,
  MPSGraphDeploymentPlatformVisionOS = 3,
};

/// Options for a package. Only `append` matters here: a package of this framework suits every system.
@interface MPSGraphExecutableSerializationDescriptor : MPSGraphObject {
 @package
  void* _impl;
}

/// If YES, serialization raises where a package exists already, since a package holds one executable. NO by default:
/// the new package replaces it.
@property(atomic, readwrite) BOOL append;

/// The system that runs the package; macOS by default.
@property(atomic, readwrite) MPSGraphDeploymentPlatform deploymentPlatform;

/// The earliest version of that system, copied; empty by default: the latest version.
@property(atomic, readwrite, copy) NSString* minimumDeploymentTarget;

@end

/// A compiled graph; inputs and results are in the order of feedTensors and targetTensors.
@interface MPSGraphExecutable : NSObject {
 @package
  void* _impl;
}

/// SynchronizeResults by default.
@property(atomic, readwrite) MPSGraphOptions options;

/// The fed tensors, in the order of the inputs.
@property(atomic, readonly, nullable) NSArray<MPSGraphTensor*>* feedTensors;

/// The computed tensors, in the order of the results.
@property(atomic, readonly, nullable) NSArray<MPSGraphTensor*>* targetTensors;

/// Loads a file that serializeToMPSGraphPackageAtURL wrote; raises if the file is missing, of another format, damaged
/// or newer. The executable has its own variables, with the values in the file, and computes on the device that first
/// runs it.
- (instancetype)initWithMPSGraphPackageAtURL:(NSURL*)mpsgraphPackageURL
                       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Raises: packages of Core ML cannot be read here.
- (instancetype)initWithCoreMLPackageAtURL:(NSURL*)coreMLPackageURL
                     compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Writes the graph and the present values of its variables into a file. If this fails, it raises and leaves an
/// existing file unchanged.
- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url
                             descriptor:(MPSGraphExecutableSerializationDescriptor* _Nullable)descriptor;

/// Compiles in advance for fully known input types; only checks input types that are partly unknown.
- (void)specializeWithDevice:(MPSGraphDevice* _Nullable)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Infers the types of the results from the types of the inputs; parts that the inputs leave unknown stay unknown.
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

/// Runs without waiting; the results are valid when the completion handler is called.
- (NSArray<MPSGraphTensorData*>*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                 inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                                resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
                                         executionDescriptor:
                                             (MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;

/// Adds the run to a command buffer; the results are valid when the buffer has completed.
- (NSArray<MPSGraphTensorData*>*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                           inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                          resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
                                   executionDescriptor:
                                       (MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;

@end

NS_ASSUME_NONNULL_END
