// The device that everything runs on, and the border where its exceptions become C++ ones. Private to the engine.
#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

#import "engine/ref.h"
#include "ir/callable.h"

// Selectors beyond Metal's API that a device may have; the engine asks respondsToSelector: before it sends them.
@protocol AlloyDeviceDiagnostics
// Counts since the process started: dispatches, compilations, bytesToDevice, bytesFromDevice; and what is allocated
// now: allocatedBytes (NSNumbers).
- (NSDictionary*)alloyCounters;
// What it is, in a word, such as "cpu".
- (NSString*)alloyKind;
// Sets and tells how many threads compute, from the next run on; at least 1. NO, and 0, if the device has no such
// choice.
- (BOOL)alloySetThreads:(NSUInteger)count;
- (NSUInteger)alloyThreads;
// The version of the macOS whose framework it behaves like, major and minor (NSNumbers); 0 and 0: none's.
- (NSArray*)alloySystem;
@end

// The same for an executable, beyond MPSGraph's API.
@protocol AlloyExecutableDiagnostics
// The bytes of a run of the types it was compiled for: variables, feeds, results, constants, arena (what is computed
// meanwhile), scratch, layouts (NSNumbers); and atPeak, an array of what the arena holds when that is most: name (may
// be empty), kind, shape, bytes.
- (NSDictionary*)alloyMemoryPlan;
// Whether runs take the times of their kernels, from now on.
- (void)alloySetProfiling:(BOOL)on;
// Ends the run of its graph that is in progress, which then fails with MTLCommandBufferErrorTimeout; NO where there is
// none. Never waits.
- (BOOL)alloyInterrupt;
// What they took: a dictionary a kernel, in order of execution: name (may be empty), kind, shape, flops, bytes, and in
// seconds the total of all runs and begin and end in the last one.
- (NSArray*)alloyProfile;
@end

namespace alloy::engine {

// The system's default device; throws DeviceError where there is none.
id<MTLDevice> metal_device();
// The first device of that kind or name, the default one before others, or for an empty one the default; throws
// ir::Error, naming `op`, where there is none.
Ref<id<MTLDevice>> find_device(const std::string& kind_or_name, const char* op);
// How many threads of the host it computes with, or 0 where it does not tell. Messages it: inside on_device.
int host_threads(id<MTLDevice> device);

// Runs `work`, which messages the framework, in an autorelease scope; an NSException becomes an OutOfMemory, where that
// is what it says, a WouldAbort where it stands for the end of the process, or a DeviceError.
void on_device(ir::Callable work);

}  // namespace alloy::engine
