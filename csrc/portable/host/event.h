// Owns the value of an event: a number that orders queues against each other and against the host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "host/work_queue.h"

namespace alloy::host {

// Safe from every thread.
class Event {
 public:
  uint64_t value() const;

  // Sets the value, wakes the waiters it satisfies and calls what was registered for it. A value that is no larger than
  // the event's changes nothing.
  void signal(uint64_t value);

  // Blocks until the value has reached `value`; false after `timeout`, or when the process ends first.
  bool wait(uint64_t value, std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  // Calls `action` once when the value has reached `value`: now, or from the signal that does it.
  void notify(uint64_t value, std::function<void()> action);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
  std::vector<std::pair<uint64_t, std::function<void()>>> actions_;
};

// What a run waits for and signals, in the order it was asked for.
class EventList {
 public:
  EventList();
  EventList(const EventList& other);
  EventList& operator=(const EventList& other);
  ~EventList();

  void add_wait(std::shared_ptr<Event> event, uint64_t value);
  void add_signal(std::shared_ptr<Event> event, uint64_t value);

  // True when there is nothing to wait for and nothing to signal.
  bool empty() const noexcept { return waits_.empty() && signals_.empty(); }

  // Blocks until all waits are satisfied; fails when the process ends first.
  Status wait_all() const;

  // Sets the values of all signals.
  void signal_all() const;

 private:
  using Entry = std::pair<std::shared_ptr<Event>, uint64_t>;
  std::vector<Entry> waits_;
  std::vector<Entry> signals_;
};

}  // namespace alloy::host
