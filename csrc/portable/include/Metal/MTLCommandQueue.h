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

/// A new empty command buffer, autoreleased. Blocks while as many of the queue are uncompleted as it was made for.
- (id<MTLCommandBuffer> _Nullable)commandBuffer;

/// The same, as the descriptor says.
- (id<MTLCommandBuffer> _Nullable)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor;

/// The same, which need not keep what it uses alive. It does nevertheless.
- (id<MTLCommandBuffer> _Nullable)commandBufferWithUnretainedReferences;

@end

NS_ASSUME_NONNULL_END
