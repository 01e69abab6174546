// The in-order queues on which all asynchronous work runs: streams of the CPU and dispatch queues. Knows nothing of
// devices, graphs and Objective-C. Work items must not throw.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "ir/callable.h"

namespace alloy::host {

// The outcome of device work: empty on success, otherwise one sentence that names the cause.
struct [[nodiscard]] Status {
  std::string message;
  bool ok() const noexcept { return message.empty(); }
};

// The message if there was no memory.
inline constexpr const char kMemoryIsExhausted[] = "Memory is exhausted.";

struct QueueState;

// Runs items one at a time in the order of submission, on a thread of its own that starts at the first item. Every
// member may be called from every thread. The destructor returns at once; submitted items still run.
class WorkQueue {
 public:
  WorkQueue() : WorkQueue(std::chrono::microseconds(0)) {}
  // Before it sleeps, the thread looks for new items that long: to be woken takes its and the caller's time.
  explicit WorkQueue(std::chrono::microseconds awake);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Runs `work` in turn and returns when it is done. `work` runs on the calling thread if the queue is idle, or if an
  // item of this queue makes the call. Fails, without running `work`, after a fork and at the end of the process.
  Status run(ir::Callable work);

  // Runs `work` on the calling thread if the queue is idle; returns false if it is not, or if run would fail.
  bool run_if_idle(ir::Callable work);

  // Runs `work` later and returns at once; fails as run does, and leaves `work` to the caller.
  Status submit(std::function<void()>&& work);

  // True if the caller is an item of this queue.
  bool is_calling() const noexcept;

  // Returns when all items submitted so far are done; at once if an item of this queue makes the call.
  Status wait();

 private:
  std::shared_ptr<QueueState> state_;
};

// Fails in a child forked after the device was used, where threads are gone, and once the process is
// ending.
Status process_status();

// The same for a caller that is about to use the device: after success, children forked later cannot use the device.
Status begin_use();

// While one exists, locks of the device may be held, so a child that is forked meanwhile cannot use the device.
class LocksAreHeld {
 public:
  LocksAreHeld() noexcept;
  ~LocksAreHeld();
  LocksAreHeld(const LocksAreHeld&) = delete;
  LocksAreHeld& operator=(const LocksAreHeld&) = delete;
};

// True in such a child. Threads that no longer exist may hold locks there, so code that takes a lock must ask first.
bool process_is_forked() noexcept;

// At exit, queues are drained before what has been registered with atexit() until this call, such as by a library that
// the queues' work uses.
void drain_before_registered();

// True once exit() has begun to drain the queues.
bool process_is_ending() noexcept;

// How often a waiting thread checks that the process is not ending with nobody left to wake it.
inline constexpr std::chrono::milliseconds kLookInterval{100};

// True once exit() has waited in vain for a queue; its run then ends as if it were interrupted.
inline std::atomic<bool> g_runs_shall_end{false};
inline bool runs_shall_end() noexcept { return g_runs_shall_end.load(std::memory_order_relaxed); }

// While one exists, this thread waits for another thread or queue.
class WaitingForOthers {
 public:
  WaitingForOthers() noexcept;
  ~WaitingForOthers();
  WaitingForOthers(const WaitingForOthers&) = delete;
  WaitingForOthers& operator=(const WaitingForOthers&) = delete;
};

// True at the end of the process once every queue has been idle or waiting for a second. Waits for something that may
// never come must then give up.
bool nothing_is_to_come();

}  // namespace alloy::host
