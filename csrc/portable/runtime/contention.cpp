#include "runtime/contention.h"

#include <sys/resource.h>

#include <atomic>

#include "kernels/kernel.h"

namespace alloy::portable {
namespace {

// Threads that spin use up their cores unless somebody else does. On a quiet machine they had 99 % of them, beside one neighbour 64 %.
constexpr double kFullShare = 0.9;
// Preemptions in a second: of threads that spin 200 beside a neighbour and 60 without, of threads that sleep and wake 6,000 and 60.
constexpr double kSomePreemptions = 100, kManyPreemptions = 1000;

struct Usage {
  double cpu_seconds;
  int64_t preemptions;
};

Usage usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return {seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_nivcsw};
}

std::atomic<bool> is_contended{false};

}  // namespace

bool sleeps_for_others() { return is_contended; }

ContentionWatch::ContentionWatch() : start_(std::chrono::steady_clock::now()) {
  const Usage now = usage();
  cpu_seconds_ = now.cpu_seconds;
  preemptions_ = now.preemptions;
}

ContentionWatch::~ContentionWatch() {
  const Usage now = usage();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double preemptions = static_cast<double>(now.preemptions - preemptions_) / seconds;
  const bool is_long = seconds >= std::chrono::duration<double>(kLongRun).count();
  const bool starved = now.cpu_seconds - cpu_seconds_ < kFullShare * seconds * kernel_threads();
  const bool busy = is_contended ? preemptions > kManyPreemptions : starved && preemptions > kSomePreemptions;
  const bool contended = is_long && busy;
  is_contended = contended;
  set_waiting(contended ? Waiting::kSleep : Waiting::kSpin);
}

}  // namespace alloy::portable
