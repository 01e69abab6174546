// The list of devices; the only file that names the CPU.

#include "cpu/device.h"
#include "device/added_devices.h"
#include "facade/imitation.h"
#include "facade/metal/metal.h"

namespace alloy::facade {

id<MTLDevice> cpu_device() {
  static const id<MTLDevice> device = new_device(cpu::cpu_device(), 1);
  return device;
}

NSArray<id<MTLDevice>>* all_devices() {
  static NSArray* const devices = [] {
    NSMutableArray* made = [NSMutableArray new];
    for (device::Device* device : device::find_devices(cpu::cpu_device())) {
      const bool is_cpu = device == &cpu::cpu_device();
      id<MTLDevice> object = is_cpu ? [cpu_device() retain] : new_device(*device, [made count] + 2);
      [made addObject:object];
      [object release];
    }
    return made;
  }();
  return devices;
}

id<MTLDevice> default_device() {
  static const id<MTLDevice> device = device::may_precede_cpu() ? [all_devices() objectAtIndex:0] : cpu_device();
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
