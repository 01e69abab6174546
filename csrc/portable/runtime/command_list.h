// The life of a command buffer: encoding, commit, execution in its turn on a stream, waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"

namespace alloy::runtime {

// Commands that run together, once. One thread encodes; every thread may ask and wait.
class CommandList : public std::enable_shared_from_this<CommandList> {
 public:
  // Phases only advance.
  enum class Phase { kEncoding, kEnqueued, kCommitted, kScheduled, kCompleted, kFailed };

  // Called on the stream: `on_scheduled` before the first command, `on_finished` after the last. The list counts as
  // handled once finish_handling() has been called as well.
  struct Observer {
    std::function<void()> on_scheduled;
    std::function<void()> on_finished;
  };

  Phase phase() const;

  // The reason why a command failed; ok unless the phase is kFailed.
  host::Status error() const;

  // Seconds of the monotonic clock at which the list was scheduled, its first command began and its last one ended; 0
  // before.
  double scheduled_time() const;
  double start_time() const;
  double end_time() const;

  // Adds a command; false if the list is already committed. If an earlier command has failed, `if_skipped` (may be
  // null) is called instead.
  bool add(std::function<host::Status()> command, std::function<void()> if_skipped);

  // Reserves the next turn of `stream`, which then waits for the commit. A second call does nothing.
  host::Status enqueue(device::Stream& stream);

  // Hands the list over to `stream`, or to the turn reserved before. May be called once.
  host::Status commit(device::Stream& stream, Observer observer);

  // Gives up the turn of a list that will never be committed.
  void abandon();

  // Tells the list that all its handlers have been called.
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
