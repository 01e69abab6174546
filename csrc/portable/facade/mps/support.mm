// The functions and constants of MPS: which devices it runs on, and hints about memory.

#include "facade/mps/arrays.h"

using namespace alloy::facade;

const MTLRegion MPSRectNoClip = {{0, 0, 0}, {NSUIntegerMax, NSUIntegerMax, NSUIntegerMax}};

BOOL MPSSupportsMTLDevice(id<MTLDevice> device) {
  if (device == nil || device == cpu_device()) return device != nil;  // without a look for other devices
  return [all_devices() indexOfObjectIdenticalTo:device] != NSNotFound;
}

id<MTLDevice> MPSGetPreferredDevice(MPSDeviceOptions) { return default_device(); }

void MPSHintTemporaryMemoryHighWaterMark(id<MTLCommandBuffer>, NSUInteger) {}

void MPSSetHeapCacheDuration(id<MTLCommandBuffer>, double) {}
