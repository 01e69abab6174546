#import "engine/device.h"

#include <iterator>
#include <string>

#include "engine/device_info.h"
#include "engine/error.h"
#import "engine/ref.h"
#include "engine/stats.h"

// MTLDevice's own property of macOS, which the SDKs of the other systems hide.
@protocol AlloyWorkingSet
- (uint64_t)recommendedMaxWorkingSetSize;
@end

namespace alloy::engine {
namespace {

uint64_t number(NSDictionary* counts, NSString* key) { return [[counts objectForKey:key] unsignedLongLongValue]; }

}  // namespace

id<MTLDevice> metal_device() {
  static const Ref<id<MTLDevice>> device = Ref<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice());
  if (device.get() == nil) throw DeviceError("[device] This machine has no Metal device.");
  return device.get();
}

MPSGraphDevice* graph_device() {
  static const Ref<MPSGraphDevice*> device = Ref<MPSGraphDevice*>::retain([MPSGraphDevice deviceWithMTLDevice:metal_device()]);
  return device.get();
}

void on_device(const std::function<void()>& work) {
  std::string message;
  bool lacks_memory = false;
  @autoreleasepool {
    @try {
      work();
    } @catch (NSException* exception) {
      NSString* text = [exception reason];
      if (text == nil) text = [exception name];
      message = std::string([text UTF8String]);
      lacks_memory = [[exception name] isEqualToString:NSMallocException];
    }
  }
  if (lacks_memory) throw OutOfMemory(message);
  if (!message.empty()) throw DeviceError(message);
}

DeviceInfo device_info() {
  DeviceInfo out;
  on_device([&] {
    id<MTLDevice> device = metal_device();
    const bool portable = [static_cast<NSObject*>(device) respondsToSelector:@selector(alloyCounters)];
    const uint64_t memory = [static_cast<id<AlloyWorkingSet>>(device) recommendedMaxWorkingSetSize];
    out = {portable ? "cpu" : "gpu", [[device name] UTF8String], memory, [device hasUnifiedMemory] != NO};
  });
  return out;
}

bool set_threads(int count) {
  bool done = false;
  on_device([&] {
    NSObject* device = static_cast<NSObject*>(metal_device());
    if (![device respondsToSelector:@selector(alloySetThreads:)]) return;
    [static_cast<id<AlloyDeviceDiagnostics>>(device) alloySetThreads:static_cast<NSUInteger>(count)];
    done = true;
  });
  return done;
}

int threads() {
  int count = 0;
  on_device([&] {
    NSObject* device = static_cast<NSObject*>(metal_device());
    if ([device respondsToSelector:@selector(alloyThreads)]) count = static_cast<int>([static_cast<id<AlloyDeviceDiagnostics>>(device) alloyThreads]);
  });
  return count;
}

Counters& counters() {
  static Counters counters;
  return counters;
}

Stats stats() {
  const Counters& c = counters();
  Stats out{.dispatches = c.dispatches, .compilations = c.compilations};
  for (size_t i = 0; i < std::size(kReasons); ++i) out.compiled_for[i] = c.compiled_for[i];
  out.live_steps = c.live_steps;
  out.bytes_to_device = c.bytes_to_device;
  out.bytes_from_device = c.bytes_from_device;
  out.live_objects = c.live_objects;
  return out;
}

std::optional<Stats> device_stats() {
  std::optional<Stats> out;
  on_device([&] {
    NSObject* device = static_cast<NSObject*>(metal_device());
    if (![device respondsToSelector:@selector(alloyCounters)]) return;
    NSDictionary* counts = [static_cast<id<AlloyDeviceDiagnostics>>(device) alloyCounters];
    out.emplace();
    out->dispatches = number(counts, @"dispatches");
    out->compilations = number(counts, @"compilations");
    out->bytes_to_device = number(counts, @"bytesToDevice");
    out->bytes_from_device = number(counts, @"bytesFromDevice");
    out->allocated_bytes = number(counts, @"allocatedBytes");
  });
  return out;
}

}  // namespace alloy::engine
