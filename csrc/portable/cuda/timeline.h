// A stream of the driver and how far it is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "cuda/driver.h"

namespace alloy::cuda {

// Work on a stream of the driver in numbered pieces: runs or copies. Each ends by writing its number to the host's
// memory, so both the host and other streams can wait for it without an object of the driver.
class Timeline {
 public:
  // Throws std::runtime_error or std::bad_alloc.
  explicit Timeline(const Context& context);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const Context& context() const { return context_; }
  CUstream stream() const { return stream_; }
  // The number of the last piece that is over, and its device's address.
  uint64_t over() const { return std::atomic_ref(*over_).load(std::memory_order_acquire); }
  CUdeviceptr over_address() const { return over_address_; }
  // The address of a number in the device's memory, 0 at first, with which work on the device counts.
  CUdeviceptr count_address() const { return count_; }

  // In a forked child and at the end of the process all work counts as over. Both throw std::runtime_error if the
  // stream failed, which then writes no number.
  bool is_over(uint64_t number) const;
  void wait(uint64_t number) const;
  // Lets what begins on another stream from now on, maybe of another GPU, wait for this piece.
  void precede(const Timeline& next, uint64_t number) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Nothing {};
  Timeline(const Context& context, Nothing) : context_(context) {}

  const Context& context_;
  CUstream stream_ = nullptr;
  CUdeviceptr count_ = 0, over_address_ = 0;
  uint64_t* over_ = nullptr;
  mutable std::atomic<Clock::time_point> asked_{};  // when the driver was asked for failures
};

}  // namespace alloy::cuda
