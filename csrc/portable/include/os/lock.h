// Darwin's small locks.
#pragma once

#include <pthread.h>
#include <stdbool.h>

/// A lock of one thread at a time, which that thread must not take again.
typedef struct os_unfair_lock_s {
  pthread_mutex_t mutex;
} os_unfair_lock;
typedef os_unfair_lock* os_unfair_lock_t;

#ifdef __cplusplus
#define OS_UNFAIR_LOCK_INIT (os_unfair_lock{PTHREAD_MUTEX_INITIALIZER})
#else
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){PTHREAD_MUTEX_INITIALIZER})
#endif

/// Waits until no other thread has the lock, and takes it.
static inline void os_unfair_lock_lock(os_unfair_lock_t lock) { pthread_mutex_lock(&lock->mutex); }

/// Takes the lock if no thread has it; whether it did.
static inline bool os_unfair_lock_trylock(os_unfair_lock_t lock) { return pthread_mutex_trylock(&lock->mutex) == 0; }

/// Gives the lock back.
static inline void os_unfair_lock_unlock(os_unfair_lock_t lock) { pthread_mutex_unlock(&lock->mutex); }
