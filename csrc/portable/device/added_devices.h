// Devices that are linked in beside the CPU, and the order of all.
#pragma once

#include <functional>
#include <vector>

#include "device/device.h"

namespace alloy::device {

// A device of a higher rank comes first. The first one is the default.
enum class Rank { kBehindCpu, kCpu, kAccelerator };

// Adds a function that looks for devices of a kind. The layer of these devices calls this while the library loads. The
// function is called when a program first asks for all devices, or for the default one and that may be another than the
// CPU, because a driver may take long and must not be in use when the process forks. It returns the devices that it
// finds, in their order; they last as long as the process. If it throws, there are none.
void add_devices(Rank rank, std::function<std::vector<Device*>()> find);

// False if the CPU is the default whatever these functions find; then nobody need call them.
bool may_precede_cpu();

// Calls these functions. Returns all devices, with the CPU, in order of rank. Called once.
std::vector<Device*> find_devices(Device& cpu);
// The CPU, once find_devices() was called.
Device& host_device();

}  // namespace alloy::device
