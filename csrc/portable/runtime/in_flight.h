// Bounds the number of uncompleted command buffers of a queue.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace alloy::runtime {

// A number of permits. Every member may be called from every thread.
class InFlight : public std::enable_shared_from_this<InFlight> {
 public:
  explicit InFlight(size_t most) : free_(most) {}

  // A permit that is taken; the destructor gives it back.
  class Permit {
   public:
    explicit Permit(std::shared_ptr<InFlight> owner) : owner_(std::move(owner)) {}
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit();

   private:
    const std::shared_ptr<InFlight> owner_;
  };

  // Waits until a permit is free and takes it; null if the process ends first.
  std::unique_ptr<Permit> take();

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  size_t free_;
};

}  // namespace alloy::runtime
