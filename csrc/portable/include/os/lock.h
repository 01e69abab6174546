// Darwin's small locks.
#pragma once

#include <pthread.h>
#include <stdbool.h>

/// A lock that one thread holds at a time; the thread must not lock it again.
typedef struct os_unfair_lock_s {
  pthread_mutex_t mutex;
} os_unfair_lock;
typedef os_unfair_lock* os_unfair_lock_t;

#ifdef __cplusplus
#define OS_UNFAIR_LOCK_INIT (os_unfair_lock{PTHREAD_MUTEX_INITIALIZER})
#else
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){PTHREAD_MUTEX_INITIALIZER})
#endif

/// Waits until no other thread holds the lock, and locks it.
static inline void os_unfair_lock_lock(os_unfair_lock_t lock) { pthread_mutex_lock(&lock->mutex); }

/// Locks it if no thread holds it; returns true if so.
static inline bool os_unfair_lock_trylock(os_unfair_lock_t lock) { return pthread_mutex_trylock(&lock->mutex) == 0; }

/// Unlocks it.
static inline void os_unfair_lock_unlock(os_unfair_lock_t lock) { pthread_mutex_unlock(&lock->mutex); }
