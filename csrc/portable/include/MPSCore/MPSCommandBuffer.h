// A command buffer that long encodings may commit piece by piece.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Stands for the command buffer being encoded now and forwards to it.
@interface MPSCommandBuffer : NSObject <MTLCommandBuffer> {
 @package
  void* _impl;
}

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
