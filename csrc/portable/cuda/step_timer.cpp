#include "cuda/step_timer.h"

#include <exception>

namespace alloy::cuda {

// The first constructor has made an object, so the destructor frees what there is if a call fails.
StepTimer::StepTimer(const Context& context, CUstream stream, std::vector<device::StepTime>& times)
    : StepTimer(context, stream, times, Nothing{}) {
  const Driver& driver = context.enter();
  driver.check(driver.event_create(&start_, 0), "cuEventCreate");
  for (size_t i = 0; i < kMostSteps; ++i) {
    driver.check(driver.event_create(&begins_[i], 0), "cuEventCreate");
    driver.check(driver.event_create(&ends_[i], 0), "cuEventCreate");
  }
  driver.check(driver.event_record(start_, stream), "cuEventRecord");
}

StepTimer::~StepTimer() {
  try {
    const Driver& driver = context_.enter();
    const auto destroy = [&](CUevent event) {
      if (event != nullptr) static_cast<void>(driver.event_destroy(event));
    };
    destroy(start_);
    for (size_t i = 0; i < kMostSteps; ++i) {
      destroy(begins_[i]);
      destroy(ends_[i]);
    }
  } catch (const std::exception&) {
    // At the end of the process the driver has ended all events.
  }
}

void StepTimer::begin() {
  if (steps_.size() == kMostSteps) settle();
  const Driver& driver = context_.enter();
  driver.check(driver.event_record(begins_[steps_.size()], stream_), "cuEventRecord");
}

void StepTimer::end(size_t step) {
  const Driver& driver = context_.enter();
  driver.check(driver.event_record(ends_[steps_.size()], stream_), "cuEventRecord");
  steps_.push_back(step);
}

void StepTimer::settle() {
  const Driver& driver = context_.enter();
  driver.check(driver.synchronize(stream_), "cuStreamSynchronize");
  const auto since_start = [&](CUevent event) {
    float milliseconds = 0;
    driver.check(driver.event_elapsed(&milliseconds, start_, event), "cuEventElapsedTime");
    return static_cast<int64_t>(1e6 * static_cast<double>(milliseconds));
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t begin = since_start(begins_[i]), end = since_start(ends_[i]);
    device::StepTime& time = times_[steps_[i]];
    time = {begin, end, time.total + end - begin};
  }
  steps_.clear();
}

}  // namespace alloy::cuda
