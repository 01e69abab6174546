#import "engine/device.h"

#include <dlfcn.h>

#include <atomic>
#include <iterator>
#include <string>

#include "engine/caught.h"
#include "engine/device_info.h"
#include "engine/error.h"
#import "engine/mps_types.h"
#include "engine/stats.h"
#include "ir/op.h"

// MTLDevice's own property on macOS, which the SDKs of other systems hide.
@protocol AlloyWorkingSet
- (uint64_t)recommendedMaxWorkingSetSize;
@end

// NSProcessInfo's method, which GNUstep lacks.
struct AlloyVersion {
  NSInteger major, minor, patch;
};
@protocol AlloySystemVersion
- (AlloyVersion)operatingSystemVersion;
@end

namespace alloy::engine {
namespace {

// Every device of the system. Looks the function up by name, because not all of Apple's systems have it.
Ref<NSArray<id<MTLDevice>>*> all_devices() {
  using CopyAll = NSArray<id<MTLDevice>>* (*)();
  const auto copy_all = reinterpret_cast<CopyAll>(dlsym(RTLD_DEFAULT, "MTLCopyAllDevices"));
  return Ref<NSArray<id<MTLDevice>>*>::adopt(copy_all == nullptr ? nil : copy_all());
}

}  // namespace

id<MTLDevice> metal_device() {
  static const Ref<id<MTLDevice>> device = [] {
    auto found = Ref<id<MTLDevice>>::adopt(MTLCreateSystemDefaultDevice());
    // Programs without a window may get no default device.
    if (found.get() == nil) {
      const auto all = all_devices();
      if ([all.get() count] > 0) found = Ref<id<MTLDevice>>::retain([all.get() objectAtIndex:0]);
    }
    return found;
  }();
  if (device.get() == nil) {
    throw DeviceError("[device] This machine has no Metal device. Some Macs have none for programs that are started "
                      "over SSH: log in at the screen.");
  }
  return device.get();
}

void on_device(ir::Callable work) {
  std::string message;
  bool lacks_memory = false, aborts = false;
  std::exception_ptr thrown;
  @autoreleasepool {  // not emptied by an exception that leaves it
    @try {
      thrown = caught(work);
    } @catch (NSException* exception) {
      NSString* text = [exception reason];
      if (text == nil) text = [exception name];
      message = std::string([text UTF8String]);
      aborts = [[exception name] isEqualToString:[NSString stringWithUTF8String:ir::kAbortException]];
      lacks_memory = [[exception name] isEqualToString:NSMallocException];
    }
  }
  if (thrown) std::rethrow_exception(thrown);
  if (aborts) throw WouldAbort(message);
  if (lacks_memory) throw OutOfMemory(message);
  if (!message.empty()) throw DeviceError(message);
}

ir::System device_system() {
  static const ir::System system = [] {
    ir::System found;
    on_device([&] {
      NSObject* device = static_cast<NSObject*>(metal_device());
      NSProcessInfo* process = [NSProcessInfo processInfo];
      if ([device respondsToSelector:@selector(alloySystem)]) {
        NSArray* version = [static_cast<id<AlloyDeviceDiagnostics>>(device) alloySystem];
        found = {[[version objectAtIndex:0] intValue], [[version objectAtIndex:1] intValue]};
      } else if ([process respondsToSelector:@selector(operatingSystemVersion)]) {
        const AlloyVersion version = [static_cast<id<AlloySystemVersion>>(process) operatingSystemVersion];
        found = {static_cast<int>(version.major), static_cast<int>(version.minor)};
      }
    });
    return found;
  }();
  return system;
}

namespace {

NSString* kind_of(id<MTLDevice> device) {
  const bool tells = [static_cast<NSObject*>(device) respondsToSelector:@selector(alloyKind)];
  return tells ? [static_cast<id<AlloyDeviceDiagnostics>>(device) alloyKind] : @"gpu";
}

size_t number_of(id<MTLDevice> device) {
  if ([static_cast<NSObject*>(device) respondsToSelector:@selector(alloyNumber)]) {
    return [static_cast<id<AlloyDeviceDiagnostics>>(device) alloyNumber];
  }
  const auto all = all_devices();
  const NSUInteger found = [all.get() indexOfObjectIdenticalTo:device];
  return found == NSNotFound ? 0 : found;
}

DeviceInfo info_of(id<MTLDevice> device) {
  const uint64_t memory = [static_cast<id<AlloyWorkingSet>>(device) recommendedMaxWorkingSetSize];
  const ir::System system = device_system();
  return {[kind_of(device) UTF8String],    number_of(device),
          [[device name] UTF8String],      memory,
          [device hasUnifiedMemory] != NO, system.is_apple() ? to_string(system) : std::string()};
}

}  // namespace

DeviceInfo device_info() {
  DeviceInfo out;
  on_device([&] { out = info_of(metal_device()); });
  return out;
}

namespace {

// The default device, then the others.
std::vector<Ref<id<MTLDevice>>> devices_in_order() {
  std::vector<Ref<id<MTLDevice>>> out{Ref<id<MTLDevice>>::retain(metal_device())};
  const auto all = all_devices();
  for (id<MTLDevice> device in all.get()) {
    if (device != metal_device()) out.push_back(Ref<id<MTLDevice>>::retain(device));
  }
  return out;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> out;
  on_device([&] {
    for (const auto& device : devices_in_order()) out.push_back(info_of(device.get()));
  });
  return out;
}

std::string designation_of(id<MTLDevice> device) {
  return std::string([kind_of(device) UTF8String]) + ":" + std::to_string(number_of(device));
}

Ref<id<MTLDevice>> find_device(const std::string& wanted, const char* op) {
  Ref<id<MTLDevice>> found;
  on_device([&] {
    if (wanted.empty()) {  // nobody need look for the others
      found = Ref<id<MTLDevice>>::retain(metal_device());
      return;
    }
    for (const auto& device : devices_in_order()) {
      const bool is_it = wanted == [kind_of(device.get()) UTF8String] || wanted == [[device.get() name] UTF8String] ||
                         wanted == designation_of(device.get());
      if (is_it && found.get() == nil) found = device;
    }
  });
  if (found.get() == nil) {
    throw ir::Error(ir::Error::Kind::kValue,
                    "[" + std::string(op) + "] There is no device of the kind or name '" + wanted + "'");
  }
  return found;
}

bool set_threads(int count) {
  bool done = false;
  on_device([&] {
    NSObject* device = static_cast<NSObject*>(metal_device());
    if (![device respondsToSelector:@selector(alloySetThreads:)]) return;
    done = [static_cast<id<AlloyDeviceDiagnostics>>(device) alloySetThreads:static_cast<NSUInteger>(count)] != NO;
  });
  return done;
}

namespace {

std::atomic<uint64_t> the_memory_limit{UINT64_MAX};

}  // namespace

bool set_memory_limit(uint64_t bytes) {
  bool done = false;
  on_device([&] {
    for (const auto& device : devices_in_order()) {
      NSObject* object = static_cast<NSObject*>(device.get());
      if (![object respondsToSelector:@selector(alloySetMemoryLimit:)]) continue;
      [static_cast<id<AlloyDeviceDiagnostics>>(object) alloySetMemoryLimit:bytes];
      done |= device.get() == metal_device();
    }
  });
  if (done) the_memory_limit = bytes;
  return done;
}

uint64_t memory_limit() { return the_memory_limit; }

int host_threads(id<MTLDevice> device) {
  const bool tells = [static_cast<NSObject*>(device) respondsToSelector:@selector(alloyThreads)];
  return tells ? static_cast<int>([static_cast<id<AlloyDeviceDiagnostics>>(device) alloyThreads]) : 0;
}

int threads() {
  int count = 0;
  on_device([&] { count = host_threads(metal_device()); });
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
    out->launches = number(counts, @"launches");
    out->allocated_bytes = number(counts, @"allocatedBytes");
  });
  return out;
}

}  // namespace alloy::engine
