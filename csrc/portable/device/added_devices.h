// Devices that are linked in beside the CPU.
#pragma once

#include <vector>

#include "device/device.h"

namespace alloy::device {

// Makes a device one of the process's; called while the library loads, by the layer that the device is. The first one
// is the default device.
void add_device(Device& device);

// In the order in which they were added. The product has none, the tests' build has its own (tests/remote_device).
const std::vector<Device*>& added_devices();

}  // namespace alloy::device
