// The device that computes, and the border at which its exceptions become C++ exceptions. Private to the engine.
#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

#import "engine/ref.h"
#include "ir/callable.h"

// Selectors beyond Metal's API that a device may have. The engine asks respondsToSelector: before it sends them.
@protocol AlloyDeviceDiagnostics
// NSNumbers: dispatches, compilations, bytesToDevice and bytesFromDevice since the process started; allocatedBytes now.
- (NSDictionary*)alloyCounters;
// A word for the kind of device, such as "cpu".
- (NSString*)alloyKind;
// The number among the devices of its kind, from 0.
- (NSUInteger)alloyNumber;
// Set and get the number of threads that compute, at least 1, from the next run on. NO and 0 if the device has no such
// setting.
- (BOOL)alloySetThreads:(NSUInteger)count;
- (NSUInteger)alloyThreads;
// Sets how many bytes may be allocated at once; what is allocated already stays.
- (void)alloySetMemoryLimit:(uint64_t)bytes;
// The version (NSNumbers: major, minor) of the macOS that the device imitates; 0 and 0 if none.
- (NSArray*)alloySystem;
@end

// Selectors beyond MPSGraph's API that an executable may have.
@protocol AlloyExecutableDiagnostics
// The bytes of a run (NSNumbers: variables, feeds, results, constants, arena (intermediate values), scratch, layouts
// (packed weights)), and atPeak, an array of the arena's largest contents: name (may be empty), kind, shape, bytes.
- (NSDictionary*)alloyMemoryPlan;
// Sets whether runs measure the times of their kernels.
- (void)alloySetProfiling:(BOOL)on;
// Ends the graph's run in progress, which then fails with MTLCommandBufferErrorTimeout; NO if there is none. Never
// waits.
- (BOOL)alloyInterrupt;
// Sets a block that the following runs call with the position of each target whose elements will not change any more,
// on a thread of their own; nil ends this. A run may leave out targets.
- (void)alloySetTargetHandler:(void (^)(NSUInteger))handler;
// The measured times: a dictionary for each kernel, in order of execution: name (may be empty), kind, shape, dtype
// (of its narrowest floats, or empty), flops, bytes, and in seconds total (all runs), begin and end (last run).
- (NSArray*)alloyProfile;
@end

namespace alloy::engine {

// The system's default device; throws DeviceError if there is none.
id<MTLDevice> metal_device();
// The first device of that kind or name, with the default device tried first, or the one of that kind and number, such
// as "cuda:1"; the default device for an empty text. Throws ir::Error, naming `op`, if there is none.
Ref<id<MTLDevice>> find_device(const std::string& wanted, const char* op);
// The kind and number of the device, by which find_device() finds it.
std::string designation_of(id<MTLDevice> device);
// The number of host threads that the device computes with, or 0 if it does not tell. Must run inside on_device.
int host_threads(id<MTLDevice> device);

// Runs `work`, which messages the framework, in an autorelease scope. An NSException becomes OutOfMemory if it says so,
// WouldAbort if it replaces the end of the process, and DeviceError otherwise.
void on_device(ir::Callable work);

}  // namespace alloy::engine
