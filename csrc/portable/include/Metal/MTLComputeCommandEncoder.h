// Compute encoders. Programs refer to them, but this device cannot make one.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLFence.h>
#import <Metal/MTLHeap.h>
#import <Metal/MTLTexture.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// How a dispatch uses a resource.
typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1,
  MTLResourceUsageWrite = 2,
  MTLResourceUsageSample = 4,
};

/// The scope of a barrier.
typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
  MTLBarrierScopeBuffers = 1,
  MTLBarrierScopeTextures = 2,
  MTLBarrierScopeRenderTargets = 4,
};

/// Encodes dispatches of compute functions; no object of it exists.
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>

/// Whether its dispatches wait for each other.
@property(readonly) MTLDispatchType dispatchType;

/// The function of the following dispatches.
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;

/// Arguments by index: a copy of bytes, a buffer from `offset` on, several buffers, a texture.
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setBuffer:(id<MTLBuffer> _Nullable)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setTexture:(id<MTLTexture> _Nullable)texture atIndex:(NSUInteger)index;

/// Bytes of group memory.
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;

/// Runs the function for each thread of a grid, given in groups or in threads.
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreads:(MTLSize)threadsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;

/// Order relative to other encoders and between dispatches.
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;

/// Names resources that dispatches use without an argument.
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;

@end

NS_ASSUME_NONNULL_END
