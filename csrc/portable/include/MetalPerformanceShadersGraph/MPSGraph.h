// Graphs: building, compiling and running.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphCore.h>
#import <MetalPerformanceShadersGraph/MPSGraphDevice.h>
#import <MetalPerformanceShadersGraph/MPSGraphOperation.h>
#import <MetalPerformanceShadersGraph/MPSGraphTensor.h>
#import <MetalPerformanceShadersGraph/MPSGraphTensorData.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSGraph, MPSGraphExecutable;

/// Actions of a run besides computing.
typedef NS_ENUM(uint64_t, MPSGraphOptions) {
  MPSGraphOptionsNone = 0,
  MPSGraphOptionsSynchronizeResults = 1,
  MPSGraphOptionsVerbose = 2,
  MPSGraphOptionsDefault = 1,
};

/// The compiler's level of optimisation; the portable framework has one level and accepts both.
typedef NS_ENUM(uint64_t, MPSGraphOptimization) {
  MPSGraphOptimizationLevel0 = 0,
  MPSGraphOptimizationLevel1 = 1,
};

/// The compiler's aim; the portable framework treats both alike.
typedef NS_ENUM(uint64_t, MPSGraphOptimizationProfile) {
  MPSGraphOptimizationProfilePerformance = 0,
  MPSGraphOptimizationProfilePowerEfficiency = 1,
};

/// The precision that a compilation may give up for speed. The portable framework's CPU gives up none; other devices
/// may round the operands of products to FP19, which has float32's exponent and 10 bits of mantissa, as TF32.
typedef NS_OPTIONS(NSUInteger, MPSGraphReducedPrecisionFastMath) {
  MPSGraphReducedPrecisionFastMathNone = 0,
  MPSGraphReducedPrecisionFastMathAllowFP16Conv2DWinogradTransformIntermediate = 2,
  MPSGraphReducedPrecisionFastMathAllowFP16Intermediates = 2,
  MPSGraphReducedPrecisionFastMathAllowConvertingOperandsFromFP32ToFP19 = 4,
  MPSGraphReducedPrecisionFastMathDefault = 0,
};

/// Stages of a run at which events can be set.
typedef NS_ENUM(uint64_t, MPSGraphExecutionStage) {
  MPSGraphExecutionStageCompleted = 0,
};

/// Values by tensor.
typedef NSDictionary<MPSGraphTensor*, MPSGraphTensorData*> MPSGraphTensorDataDictionary;

/// Types by tensor.
typedef NSDictionary<MPSGraphTensor*, MPSGraphShapedType*> MPSGraphTensorShapedTypeDictionary;

/// Called when a run is over, with its results; the error is nil on success.
typedef void (^MPSGraphCompletionHandler)(MPSGraphTensorDataDictionary* resultsDictionary, NSError* _Nullable error);

/// Called when a run is about to start, with the results it will fill.
typedef void (^MPSGraphScheduledHandler)(MPSGraphTensorDataDictionary* resultsDictionary, NSError* _Nullable error);

/// Called when a compilation is over; the error is nil on success.
typedef void (^MPSGraphCompilationCompletionHandler)(MPSGraphExecutable* executable, NSError* _Nullable error);

/// Executables by the names that callSymbolName: uses.
typedef NSDictionary<NSString*, MPSGraphExecutable*> MPSGraphCallableMap;

/// Options of a compilation.
@interface MPSGraphCompilationDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Keeps types as they were inferred while building.
- (void)disableTypeInference;

/// Level1 by default.
@property(nonatomic, readwrite) MPSGraphOptimization optimizationLevel;

/// Performance by default.
@property(nonatomic, readwrite) MPSGraphOptimizationProfile optimizationProfile;

/// Whether compiling blocks the caller; NO by default.
@property(nonatomic, readwrite) BOOL waitForCompilationCompletion;

/// Called after compiling, copied; nil by default.
@property(atomic, readwrite) MPSGraphCompilationCompletionHandler compilationCompletionHandler;

/// The queue that compiles; nil, by default, for a queue of the framework.
@property(atomic, readwrite, retain) dispatch_queue_t dispatchQueue;

// Apple's declaration does not say how the value is stored.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wobjc-property-no-attribute"
/// The executables that the graph may call, copied; their computations become parts of the graph. Nil by default.
@property(atomic, readwrite, nullable) MPSGraphCallableMap* callables;
#pragma clang diagnostic pop

/// The precision that may be given up; none by default.
@property(atomic, readwrite) MPSGraphReducedPrecisionFastMath reducedPrecisionFastMath;

@end

/// Options of a run of a graph.
@interface MPSGraphExecutionDescriptor : NSObject {
 @package
  void* _impl;
}

/// Called before the run starts, copied; nil by default.
@property(atomic, readwrite) MPSGraphScheduledHandler scheduledHandler;

/// Called after the run, copied; nil by default.
@property(atomic, readwrite) MPSGraphCompletionHandler completionHandler;

/// Whether an asynchronous run blocks the caller; NO by default.
@property(atomic, readwrite) BOOL waitUntilCompleted;

/// Used when the run has to compile; nil by default.
@property(atomic, readwrite, copy, nullable) MPSGraphCompilationDescriptor* compilationDescriptor;

/// Delays the start of runs until the event's value is at least `value`; may be called several times.
- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;

/// Sets the value of `event` when a run reaches the stage; may be called several times.
- (void)signalEvent:(id<MTLSharedEvent>)event
    atExecutionEvent:(MPSGraphExecutionStage)executionStage
               value:(uint64_t)value;

@end

/// A graph with its tensors, operations and variables. One thread builds; runs are serialised.
@interface MPSGraph : NSObject {
 @package
  void* _impl;
}

/// SynchronizeResults by default.
@property(atomic, readwrite) MPSGraphOptions options;

/// Placeholders in order of creation.
@property(nonatomic, readonly) NSArray<MPSGraphTensor*>* placeholderTensors;

/// An empty graph, retained.
+ (instancetype)new;

/// An empty graph.
- (instancetype)init;

@end

/// Compiling and running.
@interface MPSGraph (Running)

/// Compiles for the given feeds; the executable keeps the variables of the graph alive.
- (MPSGraphExecutable*)compileWithDevice:(MPSGraphDevice* _Nullable)device
                                   feeds:(MPSGraphTensorShapedTypeDictionary*)feeds
                           targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                        targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                   compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;

/// Runs on the default device and returns new values of the targets.
- (MPSGraphTensorDataDictionary*)runWithFeeds:(MPSGraphTensorDataDictionary*)feeds
                                targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                             targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations;

/// Runs on a queue, waits, and returns new values of the targets.
- (MPSGraphTensorDataDictionary*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                  feeds:(MPSGraphTensorDataDictionary*)feeds
                                          targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                       targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations;

/// Runs on a queue, waits, and writes the values of the keys of `resultsDictionary` into its data. The data may have
/// another shape with as many elements, and may be the data of a feed, but not of another result.
- (void)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                         feeds:(MPSGraphTensorDataDictionary*)feeds
              targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
             resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary;

/// The same without waiting: the values are valid when the completion handler is called.
- (MPSGraphTensorDataDictionary*)runAsyncWithFeeds:(MPSGraphTensorDataDictionary*)feeds
                                     targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                  targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                               executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;

/// The same on a given queue.
- (MPSGraphTensorDataDictionary*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                       feeds:(MPSGraphTensorDataDictionary*)feeds
                                               targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                            targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                                         executionDescriptor:
                                             (MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;

/// The same into given data.
- (void)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                              feeds:(MPSGraphTensorDataDictionary*)feeds
                   targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                  resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
                executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;

/// Adds the run to a command buffer, which may be committed and continued. The values are valid when the command buffer
/// is complete.
- (MPSGraphTensorDataDictionary*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                                 feeds:(MPSGraphTensorDataDictionary*)feeds
                                         targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                      targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                                   executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;

/// The same into given data.
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor* _Nullable)executionDescriptor;

@end

NS_ASSUME_NONNULL_END
