// What the device that runs the graphs says of itself. Plain C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/quirks.h"

namespace alloy::engine {

struct DeviceInfo {
  std::string kind;     // as the device says, such as "cpu"; "gpu" of one that does not
  std::string name;     // for people
  uint64_t memory;      // bytes that may be in use without slowing the machine down
  bool unified_memory;  // whether host and device share it
  std::string system;   // "macOS 14.5", whose framework computes or is imitated, or empty
};

// The default device, on which graphs run. Throws DeviceError where there is no device.
DeviceInfo device_info();
// Every device of the machine, the default one first; throws likewise.
std::vector<DeviceInfo> devices();
// Whose framework it computes with; throws likewise.
ir::System device_system();

// Threads that compute, from the next run on: at least 1. False, and nothing changes, where the device has no such
// choice.
bool set_threads(int count);
// How many there are, or 0 where the device does not tell.
int threads();

}  // namespace alloy::engine
