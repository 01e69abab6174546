// The device of a graph.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "facade/metal/metal.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSGraphDevice

+ (instancetype)deviceWithMTLDevice:(id<MTLDevice>)metalDevice {
  device_of(metalDevice);  // raises when it is not ours
  MPSGraphDevice* device = [[self alloc] autorelease];
  device->_impl = [metalDevice retain];
  return device;
}

- (instancetype)init {
  raise_invalid(@"[MPSGraphDevice] Use deviceWithMTLDevice: instead of init.");
}

- (void)dealloc {
  [static_cast<id>(_impl) release];
  [super dealloc];
}

- (MPSGraphDeviceType)type {
  return MPSGraphDeviceTypeMetal;
}

- (id<MTLDevice>)metalDevice {
  return static_cast<id<MTLDevice>>(_impl);
}

@end
