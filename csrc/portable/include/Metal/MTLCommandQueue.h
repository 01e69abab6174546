// Command queues: command buffers run in the order of their commits.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLCommandBuffer;
@class MTLCommandBufferDescriptor;

/// An in-order queue of one device; safe to use from every thread.
@protocol MTLCommandQueue <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device that runs the queue.
@property(readonly) id<MTLDevice> device;

/// A new empty command buffer, autoreleased. Blocks while the queue has its maximum of uncompleted command buffers.
- (id<MTLCommandBuffer> _Nullable)commandBuffer;

/// The same with the descriptor's options.
- (id<MTLCommandBuffer> _Nullable)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor;

/// The same without retaining the objects that it uses; the portable framework retains them all the same.
- (id<MTLCommandBuffer> _Nullable)commandBufferWithUnretainedReferences;

@end

NS_ASSUME_NONNULL_END
