#include "runtime/contention.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "kernels/kernel.h"

namespace alloy::portable {
namespace {

using Clock = std::chrono::steady_clock;

// What the process's threads spend waiting for a core, as a share of time: 0 to 3 % on a quiet machine; beside one busy process 70 to 98 %
// where threads spin, and 55 % where they sleep.
constexpr double kMuchDelay = 0.2;

// Seconds that the process's threads were ready to run and did not, as Linux counts them; 0 where it does not.
double run_delay() {
  double nanoseconds = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end; task.increment(error)) {
    std::ifstream file(task->path() / "schedstat");
    double running = 0, waiting = 0;
    if (file >> running >> waiting) nanoseconds += waiting;
  }
  return 1e-9 * nanoseconds;
}

std::atomic<Clock::rep> last_look{0};
std::atomic<bool> is_contended{false};

}  // namespace

bool sleeps_for_others() { return is_contended.load(std::memory_order_relaxed); }

void watch_contention() {
  const Clock::rep now = Clock::now().time_since_epoch().count();
  const Clock::rep before = last_look.load(std::memory_order_relaxed);
  if (Clock::duration(now - before) < kWatchInterval) return;
  static std::mutex looking;
  static double delay_before = run_delay();
  std::unique_lock lock(looking, std::try_to_lock);
  if (!lock) return;
  const double delay = run_delay(), seconds = std::chrono::duration<double>(Clock::duration(now - before)).count();
  const bool contended = delay - delay_before > kMuchDelay * seconds;
  delay_before = delay;
  last_look = now;
  is_contended = contended;
  set_waiting(contended ? Waiting::kSleep : Waiting::kSpin);
}

}  // namespace alloy::portable
