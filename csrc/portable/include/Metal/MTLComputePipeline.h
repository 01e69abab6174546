// Compute pipelines, which programs name and this device cannot make.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

/// What a pipeline takes; nobody makes one.
@interface MTLComputePipelineReflection : NSObject
@end

/// Where a pipeline's reflection is written to.
typedef MTLComputePipelineReflection* _Nullable MTLAutoreleasedComputePipelineReflection;

/// What shall come back beside a pipeline.
typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
  MTLPipelineOptionNone = 0,
  MTLPipelineOptionArgumentInfo = 1,
  MTLPipelineOptionBufferTypeInfo = 2,
  MTLPipelineOptionFailOnBinaryArchiveMiss = 4,
};

/// What a pipeline shall be.
@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Free text for debuggers.
@property(nonatomic, readwrite, copy, nullable) NSString* label;

/// The function it would run.
@property(nonatomic, readwrite, retain, nullable) id<MTLFunction> computeFunction;

/// A promise about the sizes of dispatches; NO at first.
@property(nonatomic, readwrite) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;

/// Most threads of a group; 0 at first, which leaves it open.
@property(nonatomic, readwrite) NSUInteger maxTotalThreadsPerThreadgroup;

/// Makes all fields what they were at first.
- (void)reset;

@end

/// A compiled function, ready to be dispatched; there is no object of it.
@protocol MTLComputePipelineState <NSObject>

/// Free text for debuggers.
@property(readonly, nullable) NSString* label;

/// The device it was compiled for.
@property(readonly) id<MTLDevice> device;

/// Most threads of a group.
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;

/// Threads that run at once.
@property(readonly) NSUInteger threadExecutionWidth;

/// Bytes of group memory that the function takes.
@property(readonly) NSUInteger staticThreadgroupMemoryLength;

@end

/// Told of a pipeline, or why there is none.
typedef void (^MTLNewComputePipelineStateCompletionHandler)(id<MTLComputePipelineState> _Nullable computePipelineState,
                                                            NSError* _Nullable error);

/// Told of a library, or why there is none.
typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary> _Nullable library, NSError* _Nullable error);

NS_ASSUME_NONNULL_END
