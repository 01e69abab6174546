// The part of dispatch that programs around MPSGraph use: once, semaphores, groups, data, and queues with sync, async,
// after and apply. It has no sources, timers, barriers or main queue.
//
// As on a Mac, the objects are Objective-C objects: they can be retained, released and kept in collections. GNUstep's
// Foundation.h includes this file.
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

/// The protocol of all dispatch objects.
@protocol OS_dispatch_object <NSObject>
@end

/// The protocol of queues.
@protocol OS_dispatch_queue <OS_dispatch_object>
@end

/// The protocol of queues' attributes.
@protocol OS_dispatch_queue_attr <OS_dispatch_object>
@end

/// The protocol of semaphores.
@protocol OS_dispatch_semaphore <OS_dispatch_object>
@end

/// The protocol of groups.
@protocol OS_dispatch_group <OS_dispatch_object>
@end

/// The protocol of data objects.
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

/// Qualities of service, accepted by dispatch_get_global_queue, which ignores them.
typedef enum {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00
} qos_class_t;

#pragma clang assume_nonnull begin

/// Adds an owner to an object.
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);

/// Takes an owner from an object.
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);

/// `delta` nanoseconds after `when`; DISPATCH_TIME_NOW is the present, DISPATCH_TIME_FOREVER stays as it is.
DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

/// Runs `block` in the first call only; other callers wait until it has run.
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);

/// dispatch_once for a function.
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* predicate, void* _Nullable context, dispatch_function_t function);

/// Attribute of a queue that runs one block at a time, in order.
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)

/// Attribute of a queue that runs blocks in parallel.
#define DISPATCH_QUEUE_CONCURRENT _alloy_dispatch_queue_concurrent()
DISPATCH_EXPORT dispatch_queue_attr_t _alloy_dispatch_queue_concurrent(void);

/// Makes a queue, retained for the caller; a released queue still runs the blocks added to it.
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* _Nullable label,
                                                       dispatch_queue_attr_t _Nullable attr) DISPATCH_RETURNS_RETAINED;

/// The queue that runs blocks in parallel on threads of the process; there is one queue for all priorities.
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);

/// Runs a copy of `block` later; returns at once.
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);

/// dispatch_async for a function.
DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* _Nullable context, dispatch_function_t work);

/// Runs a copy of `block` after the time `when`; returns at once. The process may end before.
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);

/// Runs `block` after the blocks before it and returns when it is done; uses the calling thread if the queue is idle.
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);

/// dispatch_sync for a function.
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* _Nullable context, dispatch_function_t work);

/// A queue for dispatch_apply, which uses any free threads.
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)

/// Runs `block` with each number below `iterations` and returns when all are done: in parallel, or in order on a serial
/// queue.
DISPATCH_EXPORT void dispatch_apply(size_t iterations, dispatch_queue_t _Nullable queue, void (^block)(size_t number));

/// dispatch_apply for a function.
DISPATCH_EXPORT void dispatch_apply_f(size_t iterations, dispatch_queue_t _Nullable queue, void* _Nullable context,
                                      void (*work)(void* _Nullable context, size_t number));

/// Makes a counting semaphore, retained for the caller; nil for a negative value.
DISPATCH_EXPORT dispatch_semaphore_t _Nullable dispatch_semaphore_create(intptr_t value) DISPATCH_RETURNS_RETAINED;

/// Lowers the value by one, and waits first while it is zero; returns non-zero if `timeout` came first.
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

/// Raises the value by one; returns non-zero if this woke a waiting thread.
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

/// Makes an empty group, retained for the caller.
DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void) DISPATCH_RETURNS_RETAINED;

/// Adds one to the work that the group waits for, until dispatch_group_leave.
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);

/// Ends one piece of the group's work; raises if there is none.
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);

/// dispatch_async of a block that the group waits for.
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

/// Waits until the group has no work left; returns non-zero if `timeout` came first.
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

/// Runs a copy of `block` on `queue` once the group has no work left, at once if it has none now.
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

/// Passed to dispatch_data_create to have the bytes copied.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)

/// Passed to dispatch_data_create to have the bytes freed with free().
#define DISPATCH_DATA_DESTRUCTOR_FREE _alloy_dispatch_data_destructor_free()
DISPATCH_EXPORT dispatch_block_t _alloy_dispatch_data_destructor_free(void);

/// Makes data that does not change, retained for the caller: a copy of the bytes, or the given bytes until `destructor`
/// is called.
DISPATCH_EXPORT dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t _Nullable queue,
                                                     dispatch_block_t _Nullable destructor) DISPATCH_RETURNS_RETAINED;

/// Number of bytes.
DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);

/// Returns an object, retained for the caller, that keeps the bytes valid, and sets their address and number.
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void* _Nullable* _Nullable buffer,
                                                         size_t* _Nullable size) DISPATCH_RETURNS_RETAINED;

#pragma clang assume_nonnull end
#pragma clang diagnostic pop
