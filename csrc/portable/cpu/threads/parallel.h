// The number of threads of kernels, and the parallel loop.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernel.h"
#include "cpu/machine.h"

namespace alloy::cpu {

// The numbers from `begin` up to `end`, without `end`.
struct Range {
  int64_t begin, end;
};

// A loop with less work stays on the caller's thread. The unit is one cheap element (an addition in the cache).
inline constexpr int64_t kWorkWorthThreads = kMeasured.parallel_call;

// Into how many shares that much work is divided: as many as there are threads, unless shares would be so small that
// another thread costs more than it saves.
inline int shares_for(int64_t work) {
  if (work < kWorkWorthThreads) return 1;
  return static_cast<int>(std::min<int64_t>(work / (kWorkWorthThreads / 2), kernel_threads()));
}

// Makes this thread treat denormals as zero from now on.
void flush_denormals();

// Calls body(context, share) for every share below `shares`, on this thread and its team's.
void run_on_threads(int shares, void (*body)(const void* context, int share), const void* context);

// Calls body(share, begin, end) for consecutive shares of [0, count), as many as their work pays for. Shares are
// numbered, below kernel_threads(), and any thread may run any share. `work_per_item` is in units of kWorkWorthThreads.
// The body must not throw.
template <class Body>
void parallel_shares(int64_t count, int64_t work_per_item, const Body& body) {
  const int shares = static_cast<int>(std::min<int64_t>(shares_for(count * work_per_item), count));
  if (shares <= 1) {
    if (count > 0) body(int64_t{0}, int64_t{0}, count);
    return;
  }
  struct Loop {
    int64_t count, shares;
    const Body& body;
  } loop{count, shares, body};
  run_on_threads(
      shares,
      [](const void* context, int share) {
        const Loop& l = *static_cast<const Loop*>(context);
        const int64_t begin = l.count * share / l.shares, end = l.count * (share + 1) / l.shares;
        l.body(int64_t{share}, begin, end);
      },
      &loop);
}

// Calls body(i) for every i below `count`: few items, of which each is worth a thread.
template <class Body>
void parallel_items(int64_t count, const Body& body) {
  if (count == 1) return body(int64_t{0});
  run_on_threads(
      static_cast<int>(count), [](const void* context, int i) { (*static_cast<const Body*>(context))(int64_t{i}); },
      &body);
}

// The same without numbers of shares: body(begin, end).
template <class Body>
void parallel_for(int64_t count, int64_t work_per_item, const Body& body) {
  parallel_shares(count, work_per_item, [&](int64_t, int64_t begin, int64_t end) { body(begin, end); });
}

}  // namespace alloy::cpu
