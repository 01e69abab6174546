// Decides how OpenMP's threads wait. libgomp has one documented switch that works at run time: while it manages more
// threads than there are cores, a waiting thread sleeps almost at once (GOMP_SPINCOUNT in its manual). A thread with an
// idle team of its own turns that switch on.
#include <omp.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "cpu/kernel.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {
namespace {

class IdleTeam {
 public:
  void set(bool wanted) {
    std::lock_guard lock(mutex_);
    if (wanted == wanted_) return;
    wanted_ = wanted;
    if (!wanted) return changed_.notify_all();
    try {
      std::thread([this, turn = ++turn_] { hold(turn); }).detach();
    } catch (const std::exception&) {
      wanted_ = false;  // Without a thread or memory, the existing threads go on spinning.
    }
  }

 private:
  void hold(int turn) {
    // One thread more than there are cores, including the kernels' threads.
    run_on_threads(
        most_threads(std::max(2, omp_get_num_procs() - kernel_threads() + 2)), [](const void*, int) {}, nullptr);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !wanted_ || turn != turn_; });
    // The team ends with its thread.
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  int turn_ = 0;
};

}  // namespace

void set_waiting(Waiting waiting) {
  // Never destroyed, because its thread may outlive main; no allocation, because that could fail.
  alignas(IdleTeam) static std::byte place[sizeof(IdleTeam)];
  static IdleTeam& team = *new (place) IdleTeam;
  // A single thread never waits.
  team.set(waiting == Waiting::kSleep && kernel_threads() > 1);
}

}  // namespace alloy::cpu
