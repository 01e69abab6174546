// Events: order between queues, and between a queue and the host.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <dispatch/dispatch.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLSharedEvent;

/// Called with the event and the requested value.
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t value);

/// A number that command buffers wait for and set.
@protocol MTLEvent <NSObject>

/// The device that made it.
@property(readonly, nullable) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

@end

/// Represents a shared event where the event itself cannot be passed. Only this process can make an event from it:
/// encoding it raises, decoding it returns nil.
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

/// The queue on which the blocks run.
@property(readonly) dispatch_queue_t dispatchQueue;

@end

/// An event whose value the host can read; the value only grows.
@protocol MTLSharedEvent <MTLEvent>

/// The current value, 0 at first. Setting a larger value wakes waiting threads and listeners; setting another does
/// nothing.
@property(readwrite) uint64_t signaledValue;

/// Calls `block` once on the listener's queue as soon as the event's value is at least `value`.
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;

/// Blocks until the event's value is at least `value`; NO after `milliseconds`.
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;

/// A handle from which newSharedEventWithHandle: makes an event with the same value.
- (MTLSharedEventHandle*)newSharedEventHandle;

@end

NS_ASSUME_NONNULL_END
