// Command queues: command buffers run in the order of their commits.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLCommandBuffer;

/// An in-order queue of one device; safe to use from every thread.
@protocol MTLCommandQueue <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device that runs the queue.
@property(readonly) id<MTLDevice> device;

/// A new empty command buffer, autoreleased.
- (id<MTLCommandBuffer> _Nullable)commandBuffer;

@end

NS_ASSUME_NONNULL_END
