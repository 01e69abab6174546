// The number of threads of kernels, and the parallel loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.h"
#include "cpu/machine.h"

namespace alloy::cpu {

// A loop with less work stays on the caller's thread. The unit is one cheap element (an addition in the cache).
inline constexpr int64_t kWorkWorthThreads = kMeasured.parallel_call;

// True if a loop with this work should use threads, if there are any.
inline bool worth_threads(int64_t work) { return work >= kWorkWorthThreads; }

// Makes this thread treat denormals as zero from now on.
void flush_denormals();

// Calls body(context, thread) on each of `threads` threads.
void run_on_threads(int threads, void (*body)(const void* context, int thread), const void* context);

// Calls body(share, begin, end) for consecutive shares of [0, count): one share on the caller's thread, or one for each
// thread if the loop has enough work. Shares are numbered, below kernel_threads(). `work_per_item` is in units of
// kWorkWorthThreads. The body must not throw.
template <class Body>
void parallel_shares(int64_t count, int64_t work_per_item, const Body& body) {
  // All threads or one: when a team changes its size, libgomp ends and restarts threads.
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

// The same without numbers of shares: body(begin, end).
template <class Body>
void parallel_for(int64_t count, int64_t work_per_item, const Body& body) {
  parallel_shares(count, work_per_item, [&](int64_t, int64_t begin, int64_t end) { body(begin, end); });
}

}  // namespace alloy::cpu
