// Devices that are linked in beside the CPU.
#pragma once

#include <vector>

#include "device/device.h"

namespace alloy::device {

// Adds a device to those of the process. The layer of the device calls it while the library loads. The first one added
// is the default device.
void add_device(Device& device);

// In the order in which they were added. The product has none, the tests' build has its own (tests/remote_device).
const std::vector<Device*>& added_devices();

}  // namespace alloy::device
