// Darwin's clock: the time since the machine started.
#pragma once

#include <stdint.h>
#include <time.h>

/// The length of a tick of mach_absolute_time: `numer` / `denom` nanoseconds.
typedef struct mach_timebase_info {
  uint32_t numer;
  uint32_t denom;
} mach_timebase_info_data_t;
typedef mach_timebase_info_data_t* mach_timebase_info_t;

typedef int kern_return_t;
#define KERN_SUCCESS 0

/// Sets 1 / 1: here a tick is a nanosecond.
static inline kern_return_t mach_timebase_info(mach_timebase_info_t info) {
  info->numer = info->denom = 1;
  return KERN_SUCCESS;
}

/// The present time in ticks; the clock only goes forward.
static inline uint64_t mach_absolute_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// The same clock.
static inline uint64_t mach_continuous_time(void) { return mach_absolute_time(); }
