// The CPU as a device: its storage is page-aligned host memory and its streams are work queues.
#pragma once

#include "device/device.h"

namespace alloy::cpu {

device::Device& cpu_device();

}  // namespace alloy::cpu
