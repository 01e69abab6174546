// Bounds the number of uncompleted command buffers of a queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace alloy::runtime {

// A number of places. Every member may be called from every thread.
class InFlight : public std::enable_shared_from_this<InFlight> {
 public:
  explicit InFlight(size_t most) : free_(most) {}

  // A taken place; its destructor gives the place back.
  class Place {
   public:
    explicit Place(std::shared_ptr<InFlight> owner) : owner_(std::move(owner)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

   private:
    const std::shared_ptr<InFlight> owner_;
  };

  // Waits until a place is free and takes it; null if the process ends first.
  std::unique_ptr<Place> take();

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  size_t free_;
};

}  // namespace alloy::runtime
