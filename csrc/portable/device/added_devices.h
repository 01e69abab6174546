// Devices that are linked in beside the CPU.
#pragma once

#include <vector>

#include "device/device.h"

namespace alloy::device {

// Adds a device to the process. The layer of the device calls this while the library loads. The first device added is
// the default.
void add_device(Device& device);

// In the order in which they were added. The product has none; the tests' build adds tests/remote_device.
const std::vector<Device*>& added_devices();

}  // namespace alloy::device
