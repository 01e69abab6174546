// The part of dispatch that programs around MPSGraph use: once, semaphores, groups, queues with sync, async, after and
// apply, data. Refuses the rest: sources, timers, barriers, the main queue.
//
// As on a Mac, the objects are Objective-C objects: they can be retained, released and kept in collections.
// GNUstep's Foundation.h includes this file by itself.
#pragma once

#import <Foundation/NSObject.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __cplusplus
#define DISPATCH_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define DISPATCH_EXPORT extern __attribute__((visibility("default")))
#endif
#define DISPATCH_RETURNS_RETAINED __attribute__((ns_returns_retained))

/// What all dispatch objects are.
@protocol OS_dispatch_object <NSObject>
@end

/// What queues are.
@protocol OS_dispatch_queue <OS_dispatch_object>
@end

/// What attributes of queues are.
@protocol OS_dispatch_queue_attr <OS_dispatch_object>
@end

/// What semaphores are.
@protocol OS_dispatch_semaphore <OS_dispatch_object>
@end

/// What groups are.
@protocol OS_dispatch_group <OS_dispatch_object>
@end

/// What data objects are.
@protocol OS_dispatch_data <OS_dispatch_object>
@end

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"

typedef NSObject<OS_dispatch_object>* dispatch_object_t;
typedef NSObject<OS_dispatch_queue>* dispatch_queue_t;
typedef NSObject<OS_dispatch_queue_attr>* dispatch_queue_attr_t;
typedef NSObject<OS_dispatch_semaphore>* dispatch_semaphore_t;
typedef NSObject<OS_dispatch_group>* dispatch_group_t;
typedef NSObject<OS_dispatch_data>* dispatch_data_t;

typedef void (^dispatch_block_t)(void);
typedef void (*dispatch_function_t)(void* _Nullable context);

/// Zero before the block has run.
typedef intptr_t dispatch_once_t;

/// Nanoseconds of the monotonic clock.
typedef uint64_t dispatch_time_t;

#define DISPATCH_TIME_NOW 0ull
#define DISPATCH_TIME_FOREVER (~0ull)

#ifndef NSEC_PER_SEC
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull
#endif

#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN

/// Qualities of service, accepted by dispatch_get_global_queue.
typedef enum {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00
} qos_class_t;

#pragma clang assume_nonnull begin

/// One more owner of an object.
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);

/// One owner fewer.
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);

/// `delta` nanoseconds after `when`; DISPATCH_TIME_NOW is the present, FOREVER stays FOREVER.
DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

/// Runs `block` the first time only; callers wait until it has run.
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);

/// dispatch_once for a function.
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* predicate, void* _Nullable context, dispatch_function_t function);

/// Attribute of a queue that runs one block at a time, in order.
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)

/// Attribute of a queue that runs blocks side by side.
#define DISPATCH_QUEUE_CONCURRENT _alloy_dispatch_queue_concurrent()
DISPATCH_EXPORT dispatch_queue_attr_t _alloy_dispatch_queue_concurrent(void);

/// A new queue, retained for the caller; a released queue still runs what it was given.
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* _Nullable label,
                                                       dispatch_queue_attr_t _Nullable attr) DISPATCH_RETURNS_RETAINED;

/// The queue that runs blocks side by side on threads of the process; all priorities are one queue.
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);

/// Runs a copy of `block` later; returns at once.
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);

/// dispatch_async for a function.
DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* _Nullable context, dispatch_function_t work);

/// Runs a copy of `block` once `when` has come; returns at once. The process may end before.
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);

/// Runs `block` in turn and returns when it is done; on the calling thread when the queue is idle.
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);

/// dispatch_sync for a function.
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* _Nullable context, dispatch_function_t work);

/// A queue for dispatch_apply, which takes any threads that are free.
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)

/// Runs `block` with each number below `iterations` and returns when all are done: side by side, or in order on a
/// serial queue.
DISPATCH_EXPORT void dispatch_apply(size_t iterations, dispatch_queue_t _Nullable queue, void (^block)(size_t number));

/// dispatch_apply for a function.
DISPATCH_EXPORT void dispatch_apply_f(size_t iterations, dispatch_queue_t _Nullable queue, void* _Nullable context,
                                      void (*work)(void* _Nullable context, size_t number));

/// A counting semaphore, retained for the caller; nil for a negative value.
DISPATCH_EXPORT dispatch_semaphore_t _Nullable dispatch_semaphore_create(intptr_t value) DISPATCH_RETURNS_RETAINED;

/// Takes one, waiting if there is none; non-zero when `timeout` came first.
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

/// Gives one; non-zero when a waiter was woken.
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

/// A group of nothing yet, retained for the caller.
DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void) DISPATCH_RETURNS_RETAINED;

/// One thing more that the group waits for, until dispatch_group_leave.
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);

/// One thing fewer; raises if none is left.
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);

/// dispatch_async of a block that the group waits for.
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

/// Waits until the group waits for nothing; non-zero when `timeout` came first.
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

/// Runs a copy of `block` on `queue` once the group waits for nothing, which may be now.
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

/// Passed to dispatch_data_create to have the bytes copied.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)

/// Passed to dispatch_data_create to have the bytes freed with free().
#define DISPATCH_DATA_DESTRUCTOR_FREE _alloy_dispatch_data_destructor_free()
DISPATCH_EXPORT dispatch_block_t _alloy_dispatch_data_destructor_free(void);

/// Bytes that do not change, retained for the caller: a copy, or the given bytes until `destructor` is
/// called.
DISPATCH_EXPORT dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t _Nullable queue,
                                                     dispatch_block_t _Nullable destructor) DISPATCH_RETURNS_RETAINED;

/// Number of bytes.
DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);

/// Address and number of the bytes, valid while the returned object, retained for the caller, lives.
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void* _Nullable* _Nullable buffer,
                                                         size_t* _Nullable size) DISPATCH_RETURNS_RETAINED;

#pragma clang assume_nonnull end
#pragma clang diagnostic pop
