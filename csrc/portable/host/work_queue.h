// Owns the in-order queues on which everything asynchronous runs: streams of the CPU and dispatch queues.
// Knows nothing of devices and graphs, and nothing of Objective-C. Work items must not throw.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "ir/callable.h"

namespace alloy::host {

// Outcome of device work: empty on success, otherwise one sentence that names the cause.
struct [[nodiscard]] Status {
  std::string message;
  bool ok() const noexcept { return message.empty(); }
};

struct QueueState;

// Runs items one at a time in the order they came, on a thread of its own that starts when first needed.
// Every member may be called from every thread. Destruction returns at once; items given before still run.
class WorkQueue {
 public:
  WorkQueue();
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Runs `work` in turn and returns when it is done: on the calling thread when the queue is idle, or when
  // called by an item of this queue. Fails, without running it, after a fork and at the end of the process.
  Status run(ir::Callable work);

  // Runs `work` later and returns at once; fails as run does.
  Status submit(std::function<void()> work);

  // Whether an item of this queue calls.
  bool is_calling() const noexcept;

  // Returns when all items given so far are done; at once when called by an item of this queue.
  Status wait();

 private:
  std::shared_ptr<QueueState> state_;
};

// Not ok in a child forked after the device was used, whose threads and OpenMP teams are gone, and not ok once the
// process is ending.
Status process_status();

// The same for a caller that is about to use the device: if it is ok, children forked from now on may not use the
// device.
Status begin_use();

// While one lives, locks of the device may be held: a child that is forked meanwhile may not use it.
class LocksAreHeld {
 public:
  LocksAreHeld() noexcept;
  ~LocksAreHeld();
  LocksAreHeld(const LocksAreHeld&) = delete;
  LocksAreHeld& operator=(const LocksAreHeld&) = delete;
};

// True in such a child. There any lock may be held by a thread that does not exist, so code that takes a lock asks
// first.
bool process_is_forked() noexcept;

// True once exit() has begun to drain the queues.
bool process_is_ending() noexcept;

// How often whoever waits looks whether the process is ending with nobody left who could wake it.
inline constexpr std::chrono::milliseconds kLookInterval{100};

// True once exit() has waited in vain for what a queue computes, which then ends as if it were interrupted.
inline std::atomic<bool> g_runs_shall_end{false};
inline bool runs_shall_end() noexcept { return g_runs_shall_end.load(std::memory_order_relaxed); }

// While one lives, this thread waits for what another thread or queue does.
class WaitingForOthers {
 public:
  WaitingForOthers() noexcept;
  ~WaitingForOthers();
  WaitingForOthers(const WaitingForOthers&) = delete;
  WaitingForOthers& operator=(const WaitingForOthers&) = delete;
};

// True at the end of the process where every queue is idle or waits for others, once that has lasted a second: waits
// for something that may never come must then give up.
bool nothing_is_to_come();

}  // namespace alloy::host
