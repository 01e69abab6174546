// The device: makes buffers, events and command queues.

#import <Block.h>

#include <algorithm>
#include <climits>
#include <string>

#include "compiler/imitation.h"
#include "facade/imitation.h"
#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyDevice : NSObject <MTLDevice> {
 @package
  device::Device* _device;
  uint64_t _registryID;
}
// The word for what it is, such as "cpu".
- (NSString*)alloyKind;
// Counts by name, for callers that ask respondsToSelector:.
- (NSDictionary*)alloyCounters;
// NO, and 0, where the device has no choice of threads.
- (BOOL)alloySetThreads:(NSUInteger)count;
- (NSUInteger)alloyThreads;
// Major and minor version of the macOS that is imitated; 0 and 0 without one.
- (NSArray*)alloySystem;
@end

namespace alloy::facade {

id<MTLDevice> new_device(device::Device& device, uint64_t registry_id) {
  AlloyDevice* made = [AlloyDevice new];
  made->_device = &device;
  made->_registryID = registry_id;
  return made;
}

device::Device& device_of(id<MTLDevice> device) {
  static const Class our_class = [AlloyDevice class];
  return *require<AlloyDevice>(device, our_class, @"MTLDevice")->_device;
}

}  // namespace alloy::facade

namespace {

std::shared_ptr<device::Storage> allocate_buffer(AlloyDevice* device, NSUInteger length, MTLResourceOptions options) {
  if (length == 0) raise_invalid(@"[newBufferWithLength] The length is 0; a buffer has at least one byte.");
  if (storage_mode(options) == MTLStorageModeMemoryless) {
    raise_invalid(@"[newBufferWithLength] The storage mode is memoryless, which only textures can have.");
  }
  if (length > device->_device->memory_size()) return nullptr;
  return device->_device->allocate(length);
}

NSString* string_of(std::string_view text) { return [NSString stringWithUTF8String:std::string(text).c_str()]; }

NSNumber* number(const std::atomic<uint64_t>& counter) {
  return [NSNumber numberWithUnsignedLongLong:counter.load(std::memory_order_relaxed)];
}

}  // namespace

@implementation AlloyDevice

- (NSString*)name {
  return string_of(_device->name());
}

- (uint64_t)registryID {
  return _registryID;
}

- (BOOL)hasUnifiedMemory {
  return _device->has_unified_memory() ? YES : NO;
}

- (uint64_t)recommendedMaxWorkingSetSize {
  return _device->memory_size() / 4 * 3;
}

- (NSUInteger)currentAllocatedSize {
  return _device->counters().allocated_bytes.load(std::memory_order_relaxed);
}

- (NSUInteger)maxBufferLength {
  return _device->memory_size();
}

- (id<MTLCommandQueue>)newCommandQueue {
  return new_command_queue(self, _device->make_stream());
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  std::shared_ptr<device::Storage> storage = allocate_buffer(self, length, options);
  if (storage) storage->clear();
  return new_buffer(self, std::move(storage), options);
}

- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer length:(NSUInteger)length options:(MTLResourceOptions)options {
  if (!pointer) raise_invalid(@"[newBufferWithBytes] The pointer is NULL.");
  std::shared_ptr<device::Storage> storage = allocate_buffer(self, length, options);
  if (storage) storage->write(0, pointer, length);
  return new_buffer(self, std::move(storage), options);
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  if (!pointer || length == 0 || !_device->has_unified_memory()) return nil;
  if (storage_mode(options) == MTLStorageModePrivate || storage_mode(options) == MTLStorageModeMemoryless) return nil;
  std::function<void()> release;
  if (deallocator) {
    auto copy = Block_copy(deallocator);
    release = [copy, pointer, length] {
      @autoreleasepool {
        copy(pointer, length);
        Block_release(copy);
      }
    };
  }
  return new_buffer(self, _device->adopt(pointer, length, std::move(release)), options);
}

- (id<MTLEvent>)newEvent {
  return new_event(self);
}

- (id<MTLSharedEvent>)newSharedEvent {
  return new_event(self);
}

- (NSString*)alloyKind {
  return string_of(_device->kind());
}

- (BOOL)alloySetThreads:(NSUInteger)count {
  refuse_fork();
  return _device->set_threads(static_cast<int>(std::min<NSUInteger>(count, INT_MAX))) ? YES : NO;
}

- (NSUInteger)alloyThreads {
  refuse_fork();
  return static_cast<NSUInteger>(_device->threads());
}

- (NSArray*)alloySystem {
  const alloy::ir::System system = compiler::imitation().system;
  return [NSArray arrayWithObjects:[NSNumber numberWithInt:system.major], [NSNumber numberWithInt:system.minor], nil];
}

- (NSDictionary*)alloyCounters {
  const device::Counters& counters = _device->counters();
  return [NSDictionary dictionaryWithObjectsAndKeys:number(counters.dispatches), @"dispatches",
                                                    number(counters.compilations), @"compilations",
                                                    number(counters.bytes_to_device), @"bytesToDevice",
                                                    number(counters.bytes_from_device), @"bytesFromDevice",
                                                    number(counters.allocated_bytes), @"allocatedBytes", nil];
}

@end
