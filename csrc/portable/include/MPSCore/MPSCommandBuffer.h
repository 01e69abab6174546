// A command buffer that long encodings may commit piece by piece.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Lets work run only if a number, a uint32_t of a buffer, is not 0 when its turn comes.
@interface MPSPredicate : NSObject {
 @package
  void* _impl;
}

/// Where the number is.
@property(nonatomic, readonly, retain) id<MTLBuffer> predicateBuffer;

/// Bytes from the start of the buffer to the number; a multiple of 4.
@property(nonatomic, readonly) NSUInteger predicateOffset;

/// Uses a number of `buffer`; raises for a place that is not inside, autoreleased.
+ (instancetype)predicateWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;

/// The same, retained.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset NS_DESIGNATED_INITIALIZER;

/// Uses a number of its own, 0 at first.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

@end

/// Makes heaps for the temporary arrays of a command buffer; every device is one.
@protocol MPSHeapProvider <NSObject>

/// A heap of at least the size that the descriptor names, retained for the caller; nil leaves it to the device.
- (id<MTLHeap> _Nullable)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;

@optional

/// Takes a heap back of which nothing is used any more.
- (void)retireHeap:(id<MTLHeap>)heap cacheDelay:(double)seconds;

@end

/// Stands for the command buffer being encoded now and forwards to it.
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer> {
 @package
  void* _impl;
  MPSPredicate* _predicate;
}

/// Holds for the graphs and kernels that are encoded while it is set; nil at first, which runs them all. Of buffers
/// around buffers the outermost that has one decides.
@property(nonatomic, readwrite, retain, nullable) MPSPredicate* predicate;

/// Makes the heaps for temporary arrays, matrices and vectors; nil at first. Setting it sets it for all that stand for
/// the same command buffer.
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

/// Commits the present command buffer and goes on with a new one of the same queue; handlers stay with the
/// old one.
- (void)commitAndContinue;

/// A hint about memory to come; the portable framework needs none.
- (void)prefetchHeapForWorkloadSize:(size_t)size;

@end

NS_ASSUME_NONNULL_END
