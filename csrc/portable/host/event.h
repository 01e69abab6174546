// The value of an event: a number that orders queues against each other and against the host.
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

#include "host/fence.h"
#include "host/work_queue.h"

namespace alloy::host {

// Every member may be called from every thread.
class Event : public std::enable_shared_from_this<Event> {
 public:
  uint64_t value() const;

  // Sets the value, wakes the threads that wait for it and calls the actions registered for it. Does nothing if `value`
  // is not larger than the event's.
  void signal(uint64_t value);
  // The same once the fence is over. The event is owned by a std::shared_ptr.
  void signal_after(const FenceRef& fence, uint64_t value);

  // Blocks until the event's value is at least `value`. Returns false after `timeout`, or if the process ends first.
  bool wait(uint64_t value, std::optional<std::chrono::milliseconds> timeout = std::nullopt);
  // Blocks until the event's value is at least `value`, or until a fence is known after which it will be: then `fence`
  // is that one. Returns false if the process ends first.
  bool wait_for_fence(uint64_t value, FenceRef& fence);

  // Calls `action` once, as soon as the event's value is at least `value`: now, or in the call of signal().
  void notify(uint64_t value, std::function<void()> action);

 private:
  template <class Done>
  bool wait_until(const Done& done, std::optional<std::chrono::milliseconds> timeout);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0;
  std::vector<std::pair<uint64_t, FenceRef>> to_come_;  // larger values, and after what they will be there
  std::vector<std::pair<uint64_t, std::function<void()>>> actions_;
};

// The events that a run waits for and signals, in the order of the requests.
class EventList {
 public:
  EventList();
  EventList(const EventList& other);
  EventList& operator=(const EventList& other);
  ~EventList();

  void add_wait(std::shared_ptr<Event> event, uint64_t value);
  void add_signal(std::shared_ptr<Event> event, uint64_t value);

  // True if there are no waits and no signals.
  bool empty() const noexcept { return waits_.empty() && signals_.empty(); }
  bool has_waits() const noexcept { return !waits_.empty(); }

  // Blocks until all waits are satisfied but for the ends of work that has begun, and calls `follow` with these; fails
  // if the process ends first.
  Status wait_all(const std::function<void(const FenceRef&)>& follow) const;

  // Sets the values of all signals once the fence is over.
  void signal_all_after(const FenceRef& fence) const;

 private:
  using Entry = std::pair<std::shared_ptr<Event>, uint64_t>;
  std::vector<Entry> waits_;
  std::vector<Entry> signals_;
};

}  // namespace alloy::host
