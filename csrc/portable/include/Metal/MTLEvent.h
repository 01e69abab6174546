// Events: order between queues, and between a queue and the host.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <dispatch/dispatch.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLSharedEvent;

/// Called with the event and the value that had been asked for.
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t value);

/// A number that command buffers wait for and set.
@protocol MTLEvent <NSObject>

/// The device that made it.
@property(readonly, nullable) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

@end

/// Stands for a shared event where the event itself cannot go. Only this process can make an event of it: encoding it
/// raises, decoding it gives nil.
@interface MTLSharedEventHandle : NSObject <NSSecureCoding> {
 @package
  void* _impl;
}

/// The label that the event had when the handle was made.
@property(readonly, nullable) NSString* label;

@end

/// Names the dispatch queue on which notifications of shared events run.
@interface MTLSharedEventListener : NSObject {
 @package
  void* _impl;
}

/// One for the whole process.
+ (MTLSharedEventListener*)sharedListener;

/// Uses a serial queue of its own.
- (instancetype)init NS_DESIGNATED_INITIALIZER;

/// Uses `dispatchQueue`, retained.
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue NS_DESIGNATED_INITIALIZER;

/// Where the blocks run.
@property(readonly) dispatch_queue_t dispatchQueue;

@end

/// An event whose value the host sees; the value only grows.
@protocol MTLSharedEvent <MTLEvent>

/// The present value, 0 at first; setting a larger one wakes waiters and listeners, another changes nothing.
@property(readwrite) uint64_t signaledValue;

/// Calls `block` once on the listener's queue when the value has reached `value`, at once if it already
/// has.
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;

/// Blocks until the value has reached `value`; NO after `milliseconds`.
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;

/// A handle of which newSharedEventWithHandle: makes an event with the same value.
- (MTLSharedEventHandle*)newSharedEventHandle;

@end

NS_ASSUME_NONNULL_END
