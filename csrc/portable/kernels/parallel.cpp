#include "kernels/parallel.h"

#include <omp.h>

#include <atomic>

#include "kernels/kernel.h"

namespace alloy::portable {
namespace {
std::atomic<int> thread_count{0};
}

int kernel_threads() {
  const int count = thread_count.load(std::memory_order_relaxed);
  return count > 0 ? count : omp_get_max_threads();
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
