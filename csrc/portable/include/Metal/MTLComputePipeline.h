// Compute pipelines. Programs refer to them, but this device cannot make one.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

/// The arguments of a pipeline; no object of it exists.
@interface MTLComputePipelineReflection : NSObject
@end

/// The destination of a pipeline's reflection.
typedef MTLComputePipelineReflection* _Nullable MTLAutoreleasedComputePipelineReflection;

/// Additional results of making a pipeline.
typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1,
  MTLPipelineOptionBufferTypeInfo = 2,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 4,
};

/// Options of a new pipeline.
@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Free text for debuggers.
@property(nonatomic, readwrite, copy, nullable) NSString* label;

/// The function to run.
@property(nonatomic, readwrite, retain, nullable) id<MTLFunction> computeFunction;

/// A promise about the sizes of dispatches; NO by default.
@property(nonatomic, readwrite) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;

/// Most threads of a group; 0 by default, for no limit.
@property(nonatomic, readwrite) NSUInteger maxTotalThreadsPerThreadgroup;

/// Resets all properties.
- (void)reset;

@end

/// A compiled function, ready to be dispatched; no object of it exists.
@protocol MTLComputePipelineState <NSObject>

/// Free text for debuggers.
@property(readonly, nullable) NSString* label;

/// The device it was compiled for.
@property(readonly) id<MTLDevice> device;

/// Most threads of a group.
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;

/// Threads that run at once.
@property(readonly) NSUInteger threadExecutionWidth;

/// Bytes of group memory that the function uses.
@property(readonly) NSUInteger staticThreadgroupMemoryLength;

@end

/// Called with a pipeline, or with the reason why there is none.
typedef void (^MTLNewComputePipelineStateCompletionHandler)(id<MTLComputePipelineState> _Nullable computePipelineState,
                                                            NSError* _Nullable error);

/// Called with a library, or with the reason why there is none.
typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary> _Nullable library, NSError* _Nullable error);

NS_ASSUME_NONNULL_END
