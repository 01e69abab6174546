// Fences: order between the encoders of a queue.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

/// Orders encoders that use untracked resources; the portable queues always run everything in order.
@protocol MTLFence <NSObject>

/// The device that made it.
@property(readonly) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

@end

NS_ASSUME_NONNULL_END
