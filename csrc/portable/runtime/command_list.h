// Owns the life of a command buffer: encoding, commit, execution in its place of a stream, waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"

namespace alloy::runtime {

// Commands that run together once. One thread encodes; every thread may ask and wait.
class CommandList : public std::enable_shared_from_this<CommandList> {
 public:
  // Never goes back.
  enum class Phase { kEncoding, kEnqueued, kCommitted, kScheduled, kCompleted, kFailed };

  // Called on the stream; `on_scheduled` before the first command, `on_finished` after the last. The list
  // counts as handled when finish_handling() has been called too.
  struct Observer {
    std::function<void()> on_scheduled;
    std::function<void()> on_finished;
  };

  Phase phase() const;

  // Why a command failed; ok unless the phase is kFailed.
  host::Status error() const;

  // Seconds of the monotonic clock, 0 before: when it was scheduled, when the first command began, when the last ended.
  double scheduled_time() const;
  double start_time() const;
  double end_time() const;

  // Adds a command; false when the list is committed already. `if_skipped` is called in its place, if there is one,
  // where a command before it has failed.
  bool add(std::function<host::Status()> command, std::function<void()> if_skipped);

  // Takes a place in `stream`, which then waits for the commit. A second call does nothing.
  host::Status enqueue(device::Stream& stream);

  // Hands the list over to `stream`, or to the place it has taken before. Must be called once at most.
  host::Status commit(device::Stream& stream, Observer observer);

  // Gives up a place taken by a list that will never be committed.
  void abandon();

  // Says that all handlers of the list have been called.
  void finish_handling();
  bool is_handled() const;

  // Blocks until the commands are about to start.
  void wait_until_scheduled();

  // Blocks until the commands are done and finish_handling() has been called.
  void wait_until_handled();

 private:
  void execute();
  void wait_for_commit_and_execute();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::kEncoding;
  bool has_place_ = false;
  bool abandoned_ = false;
  bool handled_ = false;
  host::Status error_;
  double scheduled_time_ = 0;
  double start_time_ = 0;
  double end_time_ = 0;
  struct Command {
    std::function<host::Status()> run;
    std::function<void()> if_skipped;
  };
  std::vector<Command> commands_;
  Observer observer_;
};

}  // namespace alloy::runtime
