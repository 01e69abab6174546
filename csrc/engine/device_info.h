// Properties of devices. Plain C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/quirks.h"

namespace alloy::engine {

struct DeviceInfo {
  std::string kind;     // the device's own word, such as "cpu"; "gpu" if it has none
  size_t number;        // among the devices of its kind
  std::string name;     // for people
  uint64_t memory;      // bytes that can be in use without slowing the machine down
  bool unified_memory;  // true if host and device share memory
  std::string system;   // such as "macOS 14.5": the system that computes or is imitated; or empty
};

// The default device. Throws DeviceError if there is none.
DeviceInfo device_info();
// Every device of the machine, the default one first. Throws DeviceError if there is none.
std::vector<DeviceInfo> devices();
// The system whose framework computes or is imitated. Throws DeviceError if there is no device.
ir::System device_system();

// Sets the number of threads that compute, at least 1, from the next run on; false if the device has no such setting.
bool set_threads(int count);
// Sets how many bytes each device may have allocated at once; false if the default device has no such setting.
bool set_memory_limit(uint64_t bytes);
// That number; UINT64_MAX if none was set.
uint64_t memory_limit();
// The number of threads, or 0 if the device does not tell.
int threads();

}  // namespace alloy::engine
