// A stream of work: items of the host, which call the driver, and a stream of the driver.
#pragma once

#include <atomic>
#include <memory>

#include "cuda/driver.h"
#include "device/device.h"
#include "device/outcome.h"

namespace alloy::cuda {

// A stream of the driver and how far it is. Every run ends with a function that adds 1 to a count in the GPU's memory
// and writes that to the host's, so both the host and other streams can wait for a run without an object of the driver.
class Timeline {
 public:
  // Throws std::runtime_error or std::bad_alloc.
  explicit Timeline(const Context& context);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const Context& context() const { return context_; }
  CUstream stream() const { return stream_; }
  // The runs that have begun, and those that are over.
  uint64_t begun = 0;
  uint64_t over() const { return std::atomic_ref(*over_).load(std::memory_order_acquire); }
  // The device's addresses of the count, and of what over() reads.
  CUdeviceptr count_address() const { return count_; }
  CUdeviceptr over_address() const { return over_address_; }

 private:
  const Context& context_;
  CUstream stream_ = nullptr;
  CUdeviceptr count_ = 0, over_address_ = 0;
  uint64_t* over_ = nullptr;
};

class Fence;

class Stream final : public device::Stream {
 public:
  explicit Stream(const Context& context) : context_(context) {}

  host::Status run(ir::Callable work) override { return items_.run(work); }
  host::Status submit(std::function<void()> work) override { return items_.submit(std::move(work)); }
  host::Status begin(std::function<void()> work) override {
    return items_.run_if_idle(work) ? host::Status() : items_.submit(std::move(work));
  }
  host::FenceRef fence() override;
  void follow(const host::FenceRef& fence) override;

  // Made by the first call: a queue may be made where the driver cannot be used. Throws as Context::enter does.
  Timeline& timeline();
  // Tells that a run has begun, whose end fence() then is. A failure there is told to the outcome, which lives until
  // then.
  void add_run(device::Outcome& outcome);

 private:
  const Context& context_;
  std::shared_ptr<Timeline> timeline_;
  host::WorkQueue items_;
  const std::shared_ptr<host::WorkQueue> watch_ = std::make_shared<host::WorkQueue>();  // calls what fences are given
  std::shared_ptr<Fence> last_;
};

}  // namespace alloy::cuda
