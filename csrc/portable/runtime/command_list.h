// The life of a command buffer: encoding, commit, its turn on a stream, the end of what it began there, waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/outcome.h"
#include "ir/callable.h"

namespace alloy::runtime {

// Commands that run together, once. One thread encodes; every thread may ask and wait.
class CommandList : public std::enable_shared_from_this<CommandList> {
 public:
  // Calls what it is given, which is all commands of a list.
  using Around = void (*)(ir::Callable commands);
  explicit CommandList(Around around = [](ir::Callable commands) { commands(); }) : around_(around) {}

  // Phases only advance.
  enum class Phase { kEncoding, kEnqueued, kCommitted, kScheduled, kCompleted, kFailed };

  // Called with kScheduled by an item of the stream before the first command, and with kCompleted or kFailed at the end
  // of all that the commands began, maybe on a thread of the device, which must not wait. The list counts as handled
  // once finish_handling() has been called as well.
  using Observer = std::function<void(Phase)>;

  Phase phase() const;

  // The reason why a command failed; ok unless the phase is kFailed.
  host::Status error() const;

  // Seconds of the monotonic clock at which the list was scheduled, its first command began and its last one ended; 0
  // before.
  double scheduled_time() const;
  double start_time() const;
  double end_time() const;

  // Computes at once or begins something on the stream. It is called even if the outcome is a failure already.
  using Command = std::function<void(device::Stream& stream, device::Outcome& outcome)>;

  // Adds a command; false if the list is already committed. It is destroyed after the end of the list. If no command
  // waits, neither for the device nor for anything else, the thread that commits the list may run it.
  bool add(Command command, bool waits = true);

  // Reserves the next turn of `stream`, which then waits for the commit. A second call does nothing.
  host::Status enqueue(device::Stream& stream);

  // Hands the list over to `stream`, which lives until the end, or to the turn reserved before. May be called once.
  host::Status commit(device::Stream& stream, Observer observer);

  // Gives up the turn of a list that will never be committed.
  void abandon();

  // Tells the list that all its handlers have been called.
  void finish_handling();
  bool is_handled() const;

  // Blocks until the commands are about to start.
  void wait_until_scheduled();

  // Blocks until the commands are done.
  void wait_until_finished();
  // Blocks until finish_handling() has been called as well.
  void wait_until_handled();

 private:
  void execute(device::Stream& stream);
  void finish(const Observer& observer);

  const Around around_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::kEncoding;
  bool has_place_ = false;
  bool abandoned_ = false;
  bool handled_ = false;
  bool waits_ = false;
  device::Outcome outcome_;
  double scheduled_time_ = 0;
  double start_time_ = 0;
  double end_time_ = 0;
  std::vector<Command> commands_;
  Observer observer_;
};

}  // namespace alloy::runtime
