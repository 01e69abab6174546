// The life of a command buffer.

#include "runtime/command_list.h"

#include <chrono>
#include <utility>

namespace alloy::runtime {

namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

CommandList::Phase CommandList::phase() const {
  std::lock_guard lock(mutex_);
  return phase_;
}

host::Status CommandList::error() const {
  std::lock_guard lock(mutex_);
  return phase_ == Phase::kFailed ? outcome_.status() : host::Status();
}

double CommandList::scheduled_time() const {
  std::lock_guard lock(mutex_);
  return scheduled_time_;
}

double CommandList::start_time() const {
  std::lock_guard lock(mutex_);
  return start_time_;
}

double CommandList::end_time() const {
  std::lock_guard lock(mutex_);
  return end_time_;
}

bool CommandList::add(Command command, bool waits) {
  std::lock_guard lock(mutex_);
  if (phase_ >= Phase::kCommitted) return false;
  waits_ = waits_ || waits;
  commands_.push_back(std::move(command));
  return true;
}

host::Status CommandList::enqueue(device::Stream& stream) {
  {
    std::lock_guard lock(mutex_);
    if (phase_ != Phase::kEncoding) return {};
    phase_ = Phase::kEnqueued;
    has_place_ = true;
  }
  return stream.submit([self = shared_from_this(), &stream] {
    {
      std::unique_lock lock(self->mutex_);
      while (self->phase_ < Phase::kCommitted) {
        if (self->abandoned_ || host::process_is_ending()) return;
        self->changed_.wait_for(lock, host::kLookInterval);
      }
    }
    self->execute(stream);
  });
}

host::Status CommandList::commit(device::Stream& stream, Observer observer) {
  {
    std::lock_guard lock(mutex_);
    observer_ = std::move(observer);
    phase_ = Phase::kCommitted;
    if (has_place_) {
      changed_.notify_all();
      return {};
    }
  }
  const auto run = [self = shared_from_this(), &stream] { self->execute(stream); };
  host::Status status = waits_ ? stream.submit(run) : stream.begin(run);
  if (!status.ok()) {
    const Observer dropped = std::exchange(observer_, {});  // drops what keeps the list's owner alive
    outcome_.fail(status);
    std::lock_guard lock(mutex_);
    phase_ = Phase::kFailed;
    handled_ = true;
    changed_.notify_all();
  }
  return status;
}

void CommandList::abandon() {
  std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

void CommandList::finish_handling() {
  std::lock_guard lock(mutex_);
  handled_ = true;
  changed_.notify_all();
}

bool CommandList::is_handled() const {
  std::lock_guard lock(mutex_);
  return handled_;
}

void CommandList::wait_until_scheduled() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return phase_ >= Phase::kScheduled; });
}

void CommandList::wait_until_finished() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return phase_ >= Phase::kCompleted; });
}

void CommandList::wait_until_handled() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return handled_; });
}

void CommandList::execute(device::Stream& stream) {
  const double scheduled = now_seconds();
  {
    std::lock_guard lock(mutex_);
    scheduled_time_ = scheduled;
    phase_ = Phase::kScheduled;
    changed_.notify_all();
  }
  // The observer may keep the list's owner alive, so take it out before calling it.
  Observer observer = std::exchange(observer_, {});
  observer(Phase::kScheduled);
  const double start = now_seconds();
  {
    std::lock_guard lock(mutex_);
    start_time_ = start;
  }
  around_([&] {
    for (const Command& command : commands_) command(stream, outcome_);
  });
  host::after(stream.fence(), [self = shared_from_this(), observer = std::move(observer)] { self->finish(observer); });
}

void CommandList::finish(const Observer& observer) {
  commands_.clear();
  const Phase end = outcome_.ok() ? Phase::kCompleted : Phase::kFailed;
  {
    std::lock_guard lock(mutex_);
    end_time_ = now_seconds();
    phase_ = end;
    changed_.notify_all();
  }
  observer(end);
}

}  // namespace alloy::runtime
