// Queues and events: what orders runs of different graphs, and the host. Plain C++; the framework is behind the Impls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace alloy::engine {

// A number that runs wait for and set, and the host, too; 0 at first. Any thread may use it.
class Event {
 public:
  // Throws DeviceError where there is no device, as everything here does in a forked child.
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  uint64_t value() const;
  // Throws ir::Error where the value is less than it is already: those who wait may have missed it.
  void signal(uint64_t value);
  // Blocks until the value is reached; false after so many seconds.
  bool wait(uint64_t value, std::optional<double> timeout) const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  const std::unique_ptr<Impl> impl_;
};

// A command queue of a device, found as a graph's. What is submitted to it runs in the order in which it was.
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

// What a submission asks for besides its feeds.
struct Order {
  using Moments = std::vector<std::pair<std::shared_ptr<Event>, uint64_t>>;

  std::shared_ptr<Queue> queue = {};  // null: the graph's own
  Moments waits = {}, signals = {};   // before it starts; when it is over, however it ended
  bool takes_turns = true;            // waits while the graph has as many runs in flight as it allows

  bool is_plain() const { return !queue && waits.empty() && signals.empty(); }
};

}  // namespace alloy::engine
