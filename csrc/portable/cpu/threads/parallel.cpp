#include "cpu/threads/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/threads/cores.h"
#include "cpu/threads/pool.h"

namespace alloy::cpu {
namespace {

std::atomic<int> wanted{0};

thread_local Team* held = nullptr;  // by this thread

// The number at the head of an environment variable's text, as OpenMP's variables have it; 0 if there is none.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  while (*text == ' ') ++text;
  int number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  if (error == std::errc::result_out_of_range) return Pool::kMostShares;
  return error == std::errc() && number > 0 ? number : 0;
}

int usable_cores() {
  cpu_set_t allowed;
  // More processors than a cpu_set_t has room for are an error.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return static_cast<int>(std::thread::hardware_concurrency());
  }
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  return cores_of(processors, "/sys/devices/system/cpu");
}

int default_threads() {
  if (const int number = number_in("OMP_NUM_THREADS"); number > 0) return number;
  const double quota = std::ceil(cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
  return static_cast<int>(std::min<double>(quota, usable_cores()));
}

int most_threads() {
  static const int limit = number_in("OMP_THREAD_LIMIT");
  return limit > 0 ? std::min(limit, Pool::kMostShares) : Pool::kMostShares;
}

// Pools that no team has. They are never destroyed, because their threads may outlive main.
class IdlePools {
 public:
  // A forked child has none of the threads: it makes its own pools.
  IdlePools() {
    pthread_atfork([] { idle().mutex_.lock(); }, [] { idle().mutex_.unlock(); },
                   [] {
                     idle().first_ = nullptr;
                     idle().mutex_.unlock();
                   });
  }

  // Null if there is no memory for one.
  Pool* take() {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) return new (std::nothrow) Pool;
    return std::exchange(first_, first_->next_idle);
  }

  void give_back(Pool* pool) {
    const std::lock_guard lock(mutex_);
    pool->next_idle = std::exchange(first_, pool);
  }

  static IdlePools& idle() {
    static IdlePools& pools = *new IdlePools;
    return pools;
  }

 private:
  std::mutex mutex_;
  Pool* first_ = nullptr;
};

}  // namespace

int kernel_threads() {
  if (held != nullptr) return held->threads();
  static const int at_first = std::max(default_threads(), 1);
  const int given = wanted.load(std::memory_order_relaxed);
  return std::min(given > 0 ? given : at_first, most_threads());
}

void set_kernel_threads(int count) { wanted.store(std::max(count, 1), std::memory_order_relaxed); }

Team::Team() : threads_(kernel_threads()) {
  if (held == nullptr) held = this;
}

Team::~Team() {
  if (held != this) return;
  held = nullptr;
  if (pool_ != nullptr) IdlePools::idle().give_back(pool_);
}

Pool* Team::pool() {
  if (pool_ == nullptr) pool_ = IdlePools::idle().take();
  if (pool_ != nullptr) pool_->resize(threads_);
  return pool_;
}

void run_on_threads(int shares, void (*body)(const void* context, int share), const void* context) {
  const Team team;  // of this loop, unless the thread has one
  if (Pool* const pool = held->pool(); pool != nullptr) return pool->run(shares, body, context);
  for (int share = 0; share < shares; ++share) body(context, share);
}

}  // namespace alloy::cpu
