#include "engine/process.h"

#include <pthread.h>

#include <atomic>

#include "engine/error.h"

namespace alloy::engine {
namespace {

std::atomic<int> inside{0};
std::atomic<bool> has_run{false}, is_lost{false};

void after_fork_in_child() {
  if (has_run || inside > 0) is_lost = true;
  inside = 0;
}

}  // namespace

Entry::Entry() {
  static const int installed = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  static_cast<void>(installed);
  if (is_lost) {
    throw DeviceError(
        "The device cannot be used in a forked child of a process that has used it; start processes with the method "
        "spawn, as in multiprocessing.get_context(\"spawn\").");
  }
  ++inside;
}

Entry::~Entry() { --inside; }

bool Entry::is_refused() { return is_lost; }

void Entry::note_run() {
  if (!has_run.load(std::memory_order_relaxed)) has_run = true;
}

}  // namespace alloy::engine
