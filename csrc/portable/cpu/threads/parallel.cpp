#include "cpu/threads/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include "cpu/threads/cpu_quota.h"

namespace alloy::cpu {
namespace {

// More threads are of no use, and OpenMP's tables of threads are on the stack.
constexpr int kMostThreads = 512;

std::atomic<int> wanted{0};

int default_threads() {
  const int threads = omp_get_max_threads();
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return threads;
  return static_cast<int>(
      std::clamp(std::ceil(cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup")), 1.0, static_cast<double>(threads)));
}

// The largest team that OpenMP's settings allow on this thread.
int most_allowed() {
  if (omp_get_active_level() > 0 || omp_get_max_active_levels() < 1) return 1;
  return std::min(omp_get_thread_limit(), kMostThreads);
}

// The number of threads, at most `count`, that the system can start, counting this one. libgomp ends the process if it
// cannot start a thread. As many threads again must remain for other programs, which need threads and memory too.
int startable(int count) {
  const std::unique_ptr<pthread_t[]> threads(new (std::nothrow) pthread_t[2 * count]);
  if (!threads) return 1;
  pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&turn);
  int total = 1;
  const auto wait = [](void* mutex) -> void* {
    pthread_mutex_lock(static_cast<pthread_mutex_t*>(mutex));
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex));
    return nullptr;
  };
  while (total < 2 * count && pthread_create(&threads[total], nullptr, wait, &turn) == 0) ++total;
  pthread_mutex_unlock(&turn);
  for (int i = 1; i < total; ++i) pthread_join(threads[i], nullptr);
  return std::max(total / 2, 1);
}

// A result found on this thread: a team of `asked` threads has `granted`.
thread_local struct {
  int asked = 1, granted = 1;
} found;

// The size of this thread's team since it last changed: at a change, libgomp ends and restarts threads.
thread_local int started = 1;

}  // namespace

int most_threads(int count) {
  count = std::min(count, most_allowed());
  if (count > found.asked) found = {count, startable(count)};
  return std::min(count, found.granted);
}

int kernel_threads() {
  static const int at_first = std::clamp(default_threads(), 1, kMostThreads);
  const int given = wanted.load(std::memory_order_relaxed),
            count = std::min(given > 0 ? given : at_first, most_allowed());
  return count > found.asked ? count : std::min(count, found.granted);
}

void set_kernel_threads(int count) { wanted.store(std::clamp(count, 1, kMostThreads), std::memory_order_relaxed); }

Team::Team(int count) : size_before_(omp_get_max_threads()), dynamic_before_(omp_get_dynamic()) {
  if (count != size_before_) omp_set_num_threads(count);
  if (dynamic_before_ != 0) omp_set_dynamic(0);
}

Team::~Team() {
  if (omp_get_max_threads() != size_before_) omp_set_num_threads(size_before_);
  if (dynamic_before_ != 0) omp_set_dynamic(dynamic_before_);
}

void Team::start() {
  const int count = most_threads(kernel_threads());
  if (count == started || count == 1) return;
  int members = 1;
#pragma omp parallel num_threads(count)
  {
    flush_denormals();
#pragma omp master
    members = omp_get_num_threads();
  }
  if (members < count) found = {count, members};
  started = members;
}

void run_on_threads(int threads, void (*body)(const void* context, int thread), const void* context) {
#pragma omp parallel num_threads(threads)
  {
    // The team may be smaller than requested, so each thread may take several shares.
    for (int share = omp_get_thread_num(); share < threads; share += omp_get_num_threads()) body(context, share);
  }
}

}  // namespace alloy::cpu
