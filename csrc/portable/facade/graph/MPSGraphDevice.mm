// The device of a graph.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "facade/metal/metal.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSGraphDevice

+ (instancetype)deviceWithMTLDevice:(id<MTLDevice>)metalDevice {
  device_of(metalDevice);  // raises when it is not ours
  MPSGraphDevice* device = [[self new] autorelease];
  device->_impl = [metalDevice retain];
  return device;
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
