// A stream of work that calls the driver: a queue of the host.
#pragma once

#include "device/device.h"
#include "host/work_queue.h"

namespace alloy::cuda {

class Stream final : public device::Stream {
 public:
  host::Status run(ir::Callable work) override { return queue_.run(work); }
  host::Status submit(std::function<void()> work) override { return queue_.submit(std::move(work)); }
  host::Status wait() override { return queue_.wait(); }

 private:
  host::WorkQueue queue_;
};

}  // namespace alloy::cuda
