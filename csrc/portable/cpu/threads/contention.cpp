#include "cpu/threads/contention.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>

#include "cpu/kernel.h"

namespace alloy::cpu {
namespace {

// The time that the process's threads wait for a core, divided by the time of runs: 0 to 3 % on a quiet machine. Beside
// one busy process: 70 to 98 % if threads spin, 55 % if they sleep.
constexpr double kMuchDelay = 0.2;

// Closes the file in the destructor.
class File {
 public:
  File(int directory, const char* path, int flags)
      : descriptor_(openat(directory, path, O_RDONLY | O_CLOEXEC | flags)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Nanoseconds that a thread was ready to run but waited: the second number of the file.
uint64_t waited(int task) {
  const File file(task, "schedstat", 0);
  char text[64];
  const ssize_t size = read(file.get(), text, sizeof text);
  uint64_t value = 0;
  const char* const end = text + std::max<ssize_t>(size, 0);
  const char* const space = std::find(static_cast<const char*>(text), end, ' ');
  if (space != end) std::from_chars(space + 1, end, value);
  return value;
}

// The same for all threads of the process, in seconds; 0 if the system does not count it. It avoids the C library's
// directories and files, which allocate, because it runs after every step.
double run_delay() {
  const File tasks(AT_FDCWD, "/proc/self/task", O_DIRECTORY);
  uint64_t nanoseconds = 0;
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long size = syscall(SYS_getdents64, tasks.get(), entries, sizeof entries);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      const File task(tasks.get(), entry->d_name, O_DIRECTORY);
      nanoseconds += waited(task.get());
    }
  }
  return 1e-9 * static_cast<double>(nanoseconds);
}

std::atomic<int64_t> unseen{0};  // nanoseconds of runs since the last look
std::atomic<bool> is_contended{false};

}  // namespace

bool sleeps_for_others() { return is_contended.load(std::memory_order_relaxed); }

void watch_contention(std::chrono::nanoseconds run) {
  if (unseen.fetch_add(run.count(), std::memory_order_relaxed) + run.count() <
      std::chrono::nanoseconds(kWatchInterval).count()) {
    return;
  }
  static std::mutex looking;
  static double delay_before = run_delay();
  std::unique_lock lock(looking, std::try_to_lock);
  if (!lock) return;
  const double delay = run_delay(), seconds = 1e-9 * static_cast<double>(unseen.exchange(0));
  const bool contended = delay - delay_before > kMuchDelay * seconds;
  delay_before = delay;
  if (is_contended.exchange(contended) != contended) set_waiting(contended ? Waiting::kSleep : Waiting::kSpin);
}

}  // namespace alloy::cpu
