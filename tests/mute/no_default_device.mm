// A library to preload, which simulates a Mac without a user at its screen: there is no default device. If
// ALLOY_TEST_NO_DEVICE is set, there is no device at all.
#import <Metal/Metal.h>

#include <dlfcn.h>

#include <cstdlib>

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return nil; }

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  if (std::getenv("ALLOY_TEST_NO_DEVICE") != nullptr) return [[NSArray alloc] init];
  const auto all = reinterpret_cast<NSArray<id<MTLDevice>>* (*)()>(
      dlsym(dlopen("libMetalPerformanceShadersGraph.so", RTLD_LAZY | RTLD_NOLOAD), "MTLCopyAllDevices"));
  return all();
}
