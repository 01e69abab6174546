// A stream of work: items of the host, which call the driver, and a stream of the driver.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "cuda/timeline.h"
#include "device/device.h"
#include "device/outcome.h"

namespace alloy::cuda {

class Fence;

class Stream final : public device::Stream {
 public:
  explicit Stream(const Context& context) : context_(context) {}

  host::Status run(ir::Callable work) override { return items_.run(work); }
  host::Status submit(std::function<void()> work) override { return items_.submit(std::move(work)); }
  host::Status begin(std::function<void()> work) override;
  host::FenceRef fence() override;
  void follow(const host::FenceRef& fence) override;
  std::chrono::microseconds awake() const override;

  // Of the runs. Made by the first call: a queue may be made where the driver cannot be used. Throws as Timeline does.
  Timeline& timeline();
  // Tells that a run has begun, whose end fence() then is, and which arrays of so many bytes in the host's memory it
  // writes. A failure there is told to the outcome, which lives until then.
  void add_run(device::Outcome& outcome, const std::vector<CUdeviceptr>& arrays, const std::vector<CUdeviceptr>& bytes);
  // True if the last run writes one of these bytes.
  bool writes(CUdeviceptr begin, CUdeviceptr bytes) const;

 private:
  using Clock = std::chrono::steady_clock;

  const Context& context_;
  std::shared_ptr<Timeline> timeline_;
  uint64_t begun_ = 0;                      // runs
  std::atomic<Clock::time_point> begin_{};  // when begin() was called
  host::WorkQueue items_{awake()};
  const std::shared_ptr<host::WorkQueue> watch_ = std::make_shared<host::WorkQueue>(awake());  // calls fences' actions
  std::shared_ptr<Fence> last_;
  std::vector<CUdeviceptr> written_, written_bytes_;  // by its run
};

}  // namespace alloy::cuda
