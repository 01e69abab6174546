// The times of a run's steps by the GPU's clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/driver.h"
#include "device/executor.h"

namespace alloy::cuda {

// Notes marks in a stream, between which the host does not wait.
class StepTimer {
 public:
  // Throws std::runtime_error, as the other members do.
  StepTimer(const Context& context, CUstream stream, std::vector<device::StepTime>& times);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  // Before and behind what a step launches.
  void begin();
  void end(size_t step);
  // Waits for all steps so far and tells their times.
  void settle();

 private:
  struct Nothing {};
  StepTimer(const Context& context, CUstream stream, std::vector<device::StepTime>& times, Nothing)
      : context_(context), stream_(stream), times_(times) {}

  static constexpr size_t kMostSteps = 256;  // between two waits
  const Context& context_;
  const CUstream stream_;
  std::vector<device::StepTime>& times_;
  CUevent start_ = nullptr;
  std::array<CUevent, kMostSteps> begins_{}, ends_{};
  std::vector<size_t> steps_;  // that have ended since the last wait
};

}  // namespace alloy::cuda
