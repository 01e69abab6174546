// Which devices there are: the one place that knows them by name.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "cpu/device.h"
#include "facade/FacadePrivate.h"

namespace alloy::facade {
namespace {

// A device from outside: ALLOY_DEVICE_LIBRARY in the environment is the path of a library, built from the same sources
// as this one (csrc/portable/device), whose function `alloy_device` returns it. It is then the default device.
struct Brought {
  device::Device* device = nullptr;
  std::string mistake = {};  // the sentence about a library that brings none, or empty
};

Brought bring() {
  const char* const path = std::getenv("ALLOY_DEVICE_LIBRARY");
  if (path == nullptr || *path == '\0') return {};
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, "alloy_device");
  if (function == nullptr) return {nullptr, std::string("[ALLOY_DEVICE_LIBRARY] There is no device: ") + dlerror()};
  return {reinterpret_cast<device::Device* (*)()>(function)()};
}

const Brought& brought() {
  static const Brought found = bring();
  return found;
}

void refuse_mistakes() {
  refuse_unknown_imitation();
  if (!brought().mistake.empty()) raise_invalid(@"%s", brought().mistake.c_str());
}

}  // namespace

NSArray<id<MTLDevice>>* all_devices() {
  static NSArray* const devices = [] {
    NSMutableArray* made = [NSMutableArray new];
    for (device::Device* device : {brought().device, &cpu::cpu_device()}) {
      if (device == nullptr) continue;
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
  refuse_mistakes();
  return [default_device() retain];
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  refuse_mistakes();
  return [all_devices() copy];
}
