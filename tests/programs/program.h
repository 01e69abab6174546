// What the small programs of this folder share: a check that ends a program, and steps that must not leak.
#pragma once

#import <Foundation/Foundation.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<malloc/malloc.h>)
#include <malloc/malloc.h>
static inline size_t bytes_in_use(void) { return mstats().bytes_used; }
static inline void use_one_heap(void) {}
#else
#include <malloc.h>
static inline size_t bytes_in_use(void) { return mallinfo2().uordblks; }
static inline void use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }
#endif

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: %s does not hold.\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

#define CHECK_NEAR(value, expected)                                                             \
  do {                                                                                          \
    const double given = (value), wanted = (expected);                                          \
    if (!(given >= wanted - 1e-4 && given <= wanted + 1e-4)) {                                  \
      fprintf(stderr, "%s:%d: %s is %g, not %g.\n", __FILE__, __LINE__, #value, given, wanted); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

/// Runs `step` again and again, each time in a pool of its own, and ends the program if memory grows with the steps: in
/// each of several rounds, because threads and caches take theirs in the first ones.
static inline void run_steps(void (^step)(void)) {
  enum { kRounds = 24, kSteps = 64, kBytesPerStep = 8 };
  use_one_heap();
  size_t least = SIZE_MAX;
  for (int round = 0; round < kRounds && least > kSteps * kBytesPerStep; ++round) {
    const size_t before = bytes_in_use();
    for (int i = 0; i < kSteps; ++i) {
      @autoreleasepool {
        step();
      }
    }
    const size_t after = bytes_in_use(), more = after > before ? after - before : 0;
    if (more < least) least = more;
  }
  if (least > kSteps * kBytesPerStep) {
    fprintf(stderr, "%zu bytes more after %d steps.\n", least, kSteps);
    exit(1);
  }
}
