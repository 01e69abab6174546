// The list of devices; the only file that names the CPU.

#include "cpu/device.h"
#include "device/added_devices.h"
#include "facade/imitation.h"
#include "facade/metal/metal.h"

namespace alloy::facade {

NSArray<id<MTLDevice>>* all_devices() {
  static NSArray* const devices = [] {
    std::vector<device::Device*> found = device::added_devices();
    found.push_back(&cpu::cpu_device());
    NSMutableArray* made = [NSMutableArray new];
    for (device::Device* device : found) {
      id<MTLDevice> object = new_device(*device, [made count] + 1);
      [made addObject:object];
      [object release];
    }
    return made;
  }();
  return devices;
}

id<MTLDevice> default_device() {
  static const id<MTLDevice> device = [all_devices() objectAtIndex:0];
  return device;
}

}  // namespace alloy::facade

using namespace alloy::facade;

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  refuse_unknown_imitation();
  return [default_device() retain];
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  refuse_unknown_imitation();
  return [all_devices() copy];
}
