#include "kernels/parallel.h"

#include <omp.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu_quota.h"

namespace alloy::portable {
namespace {

std::atomic<int> thread_count{0};

int default_threads() {
  const int threads = omp_get_max_threads();
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return threads;
  return static_cast<int>(std::clamp(std::ceil(cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup")), 1.0, static_cast<double>(threads)));
}

}  // namespace

int kernel_threads() {
  const int count = thread_count.load(std::memory_order_relaxed);
  if (count > 0) return count;
  static const int at_first = default_threads();
  return at_first;
}

void set_kernel_threads(int count) { thread_count.store(std::max(count, 1), std::memory_order_relaxed); }

bool worth_threads(int64_t work) { return work >= kWorkWorthThreads && !omp_in_parallel(); }

void run_on_threads(int threads, void (*body)(const void* context, int thread), const void* context) {
#pragma omp parallel num_threads(threads)
  {
    // The team may be smaller than asked for, so shares are dealt, not assumed.
    for (int share = omp_get_thread_num(); share < threads; share += omp_get_num_threads())
      body(context, share);
  }
}

}  // namespace alloy::portable
