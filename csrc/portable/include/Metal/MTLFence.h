// Fences: order between the encoders of a queue.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

/// Orders encoders that touch untracked resources; the portable queues run everything in order as it is.
@protocol MTLFence <NSObject>

/// The device that made it.
@property(readonly) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

@end

NS_ASSUME_NONNULL_END
