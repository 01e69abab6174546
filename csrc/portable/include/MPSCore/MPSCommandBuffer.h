// A command buffer that long encodings may commit piece by piece.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Lets work run only if a number (a uint32_t in a buffer) is not 0 when the work's turn comes.
@interface MPSPredicate : NSObject {
 @package
  void* _impl;
}

/// The buffer of the number.
@property(nonatomic, readonly, retain) id<MTLBuffer> predicateBuffer;

/// Offset of the number in the buffer, in bytes; a multiple of 4.
@property(nonatomic, readonly) NSUInteger predicateOffset;

/// Uses a number in `buffer`, autoreleased; raises if the offset is not inside.
+ (instancetype)predicateWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;

/// The same, retained.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset NS_DESIGNATED_INITIALIZER;

/// Uses a number in a new buffer, 0 at first.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

@end

/// Makes heaps for the temporary arrays of a command buffer; every device is a provider.
@protocol MPSHeapProvider <NSObject>

/// A heap of at least the descriptor's size, retained for the caller; nil leaves it to the device.
- (id<MTLHeap> _Nullable)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;

@optional

/// Returns a heap that nothing uses any more.
- (void)retireHeap:(id<MTLHeap>)heap cacheDelay:(double)seconds;

@end

/// Represents the command buffer that is being encoded and forwards to it.
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer> {
 @package
  void* _impl;
  MPSPredicate* _predicate;
}

/// The condition of graphs and kernels that are encoded while it is set; nil, by default, runs them all. If buffers
/// wrap buffers, the outermost one with a condition decides.
@property(nonatomic, readwrite, retain, nullable) MPSPredicate* predicate;

/// Makes the heaps for temporary arrays, matrices and vectors; nil by default. Setting it affects all wrappers of the
/// same command buffer.
@property(nonatomic, readwrite, retain, nullable) id<MPSHeapProvider> heapProvider;

/// The command buffer being encoded now.
@property(nonatomic, readonly, retain) id<MTLCommandBuffer> commandBuffer;

/// The innermost command buffer being encoded now.
@property(nonatomic, readonly, retain) id<MTLCommandBuffer> rootCommandBuffer;

/// Wraps `commandBuffer`, autoreleased.
+ (instancetype)commandBufferWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

/// Wraps a new command buffer of the queue, autoreleased.
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)commandQueue;

/// Wraps `commandBuffer`, retained.
- (instancetype)initWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer NS_DESIGNATED_INITIALIZER;

/// Use one of the factories.
- (instancetype)init NS_UNAVAILABLE;

/// Commits the current command buffer and continues with a new one of the same queue. Handlers stay with the old one.
- (void)commitAndContinue;

/// A hint about future memory; the portable framework needs none.
- (void)prefetchHeapForWorkloadSize:(size_t)size;

@end

NS_ASSUME_NONNULL_END
