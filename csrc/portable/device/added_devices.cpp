#include "device/added_devices.h"

namespace alloy::device {
namespace {

std::vector<Device*>& devices() {
  static std::vector<Device*>& added = *new std::vector<Device*>;
  return added;
}

}  // namespace

void add_device(Device& device) { devices().push_back(&device); }

const std::vector<Device*>& added_devices() { return devices(); }

}  // namespace alloy::device
