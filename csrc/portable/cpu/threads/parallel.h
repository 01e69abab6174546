// How kernels use threads: the one count, and the one parallel loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.h"
#include "cpu/machine.h"

namespace alloy::cpu {

// Work below which a loop stays on the caller's thread, in units of one cheap element (an addition in the
// cache).
inline constexpr int64_t kWorkWorthThreads = kMeasured.parallel_call;

// True if a loop of that much work is worth threads, if there are any.
inline bool worth_threads(int64_t work) { return work >= kWorkWorthThreads; }

// Makes this thread take denormals for zero from now on.
void flush_denormals();

// Calls body(context, thread) on each of `threads` threads.
void run_on_threads(int threads, void (*body)(const void* context, int thread), const void* context);

// Calls body(share, begin, end) for shares of [0, count) that together make up the whole: one share on the caller's
// thread, or one a thread where the loop is worth it. Shares are numbered, below kernel_threads(). `work_per_item` is
// in units of kWorkWorthThreads. The body must not throw.
template <class Body>
void parallel_shares(int64_t count, int64_t work_per_item, const Body& body) {
  // Always all threads or one: libgomp ends and restarts threads when teams change their size.
  const int threads = count <= 1 || !worth_threads(count * work_per_item) ? 1 : kernel_threads();
  if (threads == 1) {
    if (count > 0) body(int64_t{0}, int64_t{0}, count);
    return;
  }
  struct Loop {
    int64_t count, threads;
    const Body& body;
  } loop{count, threads, body};
  run_on_threads(
      threads,
      [](const void* context, int thread) {
        const Loop& l = *static_cast<const Loop*>(context);
        const int64_t begin = l.count * thread / l.threads, end = l.count * (thread + 1) / l.threads;
        if (begin < end) l.body(int64_t{thread}, begin, end);
      },
      &loop);
}

// The same for bodies that need no number: body(begin, end).
template <class Body>
void parallel_for(int64_t count, int64_t work_per_item, const Body& body) {
  parallel_shares(count, work_per_item, [&](int64_t, int64_t begin, int64_t end) { body(begin, end); });
}

}  // namespace alloy::cpu
