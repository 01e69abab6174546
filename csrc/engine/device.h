// The device that everything runs on, and the border where its exceptions become C++ ones. Private to the engine.
#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <functional>

// What a device may answer beyond Metal's API; asked with respondsToSelector:.
@protocol AlloyDeviceDiagnostics
// Counts since the process started: dispatches, compilations, bytesToDevice, bytesFromDevice (NSNumbers).
- (NSDictionary*)alloyCounters;
@end

namespace alloy::engine {

// The system's default device; throws DeviceError where there is none.
id<MTLDevice> metal_device();
MPSGraphDevice* graph_device();

// Runs `work`, which messages the framework, in an autorelease scope; an NSException becomes a DeviceError.
void on_device(const std::function<void()>& work);

}  // namespace alloy::engine
