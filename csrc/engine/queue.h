// Queues and events, which order runs of different graphs and the host. Plain C++; the Impls hold the framework's
// objects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace alloy::engine {

// A number that runs and the host wait for and set; 0 at first. Any thread may use it.
class Event {
 public:
  // Throws DeviceError if there is no device. All members throw DeviceError in a forked child.
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  uint64_t value() const;
  // Throws ir::Error if the value is less than the current one, because waiting threads may have missed it.
  void signal(uint64_t value);
  // Blocks until the value is reached; false after `timeout` seconds.
  bool wait(uint64_t value, std::optional<double> timeout) const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  const std::unique_ptr<Impl> impl_;
};

// A command queue of a device, which is found as a graph finds its device. Submissions run in order.
class Queue {
 public:
  explicit Queue(const std::string& device = {});
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  std::string device_name() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  const std::unique_ptr<Impl> impl_;
};

// Options of a submission.
struct Order {
  using Moments = std::vector<std::pair<std::shared_ptr<Event>, uint64_t>>;

  std::shared_ptr<Queue> queue = {};  // null: the graph's own
  Moments waits = {}, signals = {};   // before it starts; when it is over, even if it failed
  bool takes_turns = true;            // waits while the graph has its maximum of runs in flight

  bool is_plain() const { return !queue && waits.empty() && signals.empty(); }
};

}  // namespace alloy::engine
