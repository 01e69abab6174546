// Memory of a GPU, and memory of the host that a GPU addresses.
#pragma once

#include <memory>
#include <mutex>

#include "cuda/driver.h"
#include "device/device.h"
#include "host/work_queue.h"

namespace alloy::cuda {

// Copies have a stream of their own: they wait for no run, which may never end.
class CopyStream {
 public:
  explicit CopyStream(const Context& context) : context_(context) {}

  // Calls f(driver, stream) and returns when the work that it has queued is done. Where the driver cannot be used, does
  // nothing: whatever needs the memory is refused there.
  template <class F>
  void run(const F& f) const {
    if (!host::process_status().ok()) return;
    const Driver& driver = context_.enter();
    std::call_once(made_, [&] { driver.check(driver.stream_create(&stream_, kNonBlocking), "cuStreamCreate"); });
    f(driver, stream_);
    driver.check(driver.synchronize(stream_), "cuStreamSynchronize");
  }
  const Context& context() const { return context_; }

 private:
  const Context& context_;
  mutable std::once_flag made_;
  mutable CUstream stream_ = nullptr;
};

// A multiple of all offsets in storages.
inline constexpr size_t kAlignment = 256;
// Arrays that the host copies have at most so many bytes in its memory: a run copies these in the time of one access.
inline constexpr size_t kFewBytes = 256 << 10;

// Null if there is not enough memory. A private storage is memory of the GPU; a shared one is pinned memory of the
// host.
std::shared_ptr<device::Storage> allocate(device::Counters& counters, const CopyStream& copies, size_t bytes,
                                          device::StorageMode mode);

}  // namespace alloy::cuda
