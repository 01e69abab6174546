#include "cuda/driver.h"

#include <new>
#include <stdexcept>
#include <string>

#include "host/work_queue.h"

namespace alloy::cuda {
namespace {

// True if every call fails from now on, because a kernel or the GPU went wrong: an error of its memory (214), an
// illegal address (700), a time limit (702), an assertion (710), or an instruction (714 to 719).
bool is_final(CUresult result) {
  return result == 214 || result == 700 || result == 702 || result == 710 || (result >= 714 && result <= 719);
}

}  // namespace

Driver::Driver() : library_({"libcuda.so.1"}) {
#define ALLOY_FIND(member, name, parameters) library_.find(#name, member);
  ALLOY_CUDA_DRIVER(ALLOY_FIND)
#undef ALLOY_FIND
  check(init(0), "cuInit");
  host::drain_before_registered();
  constexpr int kOldest = 12030;
  int version = 0;
  check(driver_version(&version), "cuDriverGetVersion");
  if (version < kOldest) {
    throw std::runtime_error("The NVIDIA driver is for CUDA " + std::to_string(version / 1000) + "." +
                             std::to_string(version % 1000 / 10) + ", but CUDA 12.3 or later is needed.");
  }
}

void Driver::check(CUresult result, const char* what) const {
  if (result == 0) return;
  if (result == kOutOfMemory) throw std::bad_alloc();
  const char* text = nullptr;
  if (error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  throw std::runtime_error(std::string("The CUDA driver failed in ") + what + ": " + text + " (" +
                           std::to_string(result) + ")" +
                           (is_final(result) ? ", and this process cannot use the GPU any more." : "."));
}

const Driver& Context::enter() const {
  if (const host::Status status = host::process_status(); !status.ok()) throw std::runtime_error(status.message);
  std::call_once(made_, [&] { driver_.check(driver_.context_retain(&context_, device_), "cuDevicePrimaryCtxRetain"); });
  // Others in the process may have set another context, so it is set each time: that costs some nanoseconds.
  driver_.check(driver_.context_set(context_), "cuCtxSetCurrent");
  return driver_;
}

}  // namespace alloy::cuda
