// Access to the facade's Metal classes (device, queues, events, buffers) and the C++ objects behind them.
#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <memory>

#include "device/device.h"
#include "facade/errors.h"
#include "facade/selector.h"
#include "host/event.h"
#include "runtime/command_list.h"
#include "runtime/in_flight.h"

namespace alloy::facade {

// The host's own device, which is there before all are looked for; not retained for the caller.
id<MTLDevice> cpu_device();

// Every device, one object for each, the default one first; not retained for the caller. The first call looks for them.
NSArray<id<MTLDevice>>* all_devices();

// The device that MTLCreateSystemDefaultDevice returns; not retained for the caller.
id<MTLDevice> default_device();

// The queue for runs without a queue; not retained for the caller.
id<MTLCommandQueue> default_queue();

// The device behind a Metal device; raises for nil and for a device of another framework.
device::Device& device_of(id<MTLDevice> device);

// The stream behind a command queue; raises as device_of does. Valid while the queue lives.
device::Stream& stream_of(id<MTLCommandQueue> queue);

// The device of a queue or a command buffer; raise as device_of does.
id<MTLDevice> owner_of(id<MTLCommandQueue> queue);
id<MTLDevice> owner_of(id<MTLCommandBuffer> buffer);

// The event behind a shared or plain event; raises as device_of does.
std::shared_ptr<host::Event> event_of(id<MTLEvent> event);

// The same for a handle.
std::shared_ptr<host::Event> event_of(MTLSharedEventHandle* handle);

// The memory of a buffer: a part of storage. A heap's range stays taken while anybody holds its storage.
struct BufferBytes {
  std::shared_ptr<device::Storage> storage;
  size_t offset, length;
};

// The memory behind a buffer; raises as device_of does. Valid while the buffer lives.
const BufferBytes& bytes_of(id<MTLBuffer> buffer);

// Raises, naming `method`, if elements in a caller's memory are not aligned.
void require_aligned(const BufferBytes& bytes, size_t element_bytes, NSString* method);

// Raise as device_of does.
void require_fence(id<MTLFence> fence);
void require_heap(id<MTLHeap> heap);

// The modes in MTLResourceOptions: where the memory is, how it is cached, who orders accesses.
inline MTLStorageMode storage_mode(MTLResourceOptions options) {
  return static_cast<MTLStorageMode>((options >> 4) & 0xf);
}
// Only the memory of Metal's private mode is of no concern to the host.
inline device::StorageMode mode_of(MTLStorageMode mode) {
  return mode == MTLStorageModePrivate ? device::StorageMode::kPrivate : device::StorageMode::kShared;
}
inline MTLCPUCacheMode cache_mode(MTLResourceOptions options) { return static_cast<MTLCPUCacheMode>(options & 0xf); }
inline MTLHazardTrackingMode hazard_tracking_mode(MTLResourceOptions options) {
  return static_cast<MTLHazardTrackingMode>((options >> 8) & 0x3);
}

// The accessors of these modes, except the getter of the last, for a descriptor with resourceOptions.
#define RESOURCE_MODES                                                                             \
  -(MTLStorageMode)storageMode {                                                                   \
    return storage_mode([self resourceOptions]);                                                   \
  }                                                                                                \
  -(void)setStorageMode : (MTLStorageMode)mode {                                                   \
    [self setResourceOptions:([self resourceOptions] & ~MTLResourceOptions{0xf0}) | (mode << 4)];  \
  }                                                                                                \
  -(MTLCPUCacheMode)cpuCacheMode {                                                                 \
    return cache_mode([self resourceOptions]);                                                     \
  }                                                                                                \
  -(void)setCpuCacheMode : (MTLCPUCacheMode)mode {                                                 \
    [self setResourceOptions:([self resourceOptions] & ~MTLResourceOptions{0xf}) | mode];          \
  }                                                                                                \
  -(void)setHazardTrackingMode : (MTLHazardTrackingMode)mode {                                     \
    [self setResourceOptions:([self resourceOptions] & ~MTLResourceOptions{0x300}) | (mode << 8)]; \
  }

// Implements setPurgeableState: stores `state` and returns the former state.
inline MTLPurgeableState exchange_purgeable(MTLPurgeableState& present, MTLPurgeableState state) {
  const MTLPurgeableState former = present;
  if (state != MTLPurgeableStateKeepCurrent) present = state;
  return former;
}

// Stores the error for everything that needs a shader, of MTLLibraryErrorDomain, in `error`, which may be null.
void refuse_shaders(NSError** error, NSString* method);

// The Metal object of a device, retained for the caller. Make one object for each device.
id<MTLDevice> new_device(device::Device& device, uint64_t registry_id) NS_RETURNS_RETAINED;

// The source of a buffer's memory: none, or a heap, which it retains, and the action of makeAliasable.
struct HeapShare {
  id<MTLHeap> heap = nil;
  std::function<void()> make_aliasable;
};

// New objects of a device, retained for the caller. A buffer is nil if there is no storage.
id<MTLBuffer> new_buffer(id<MTLDevice> device, BufferBytes bytes, MTLResourceOptions options,
                         HeapShare share = {}) NS_RETURNS_RETAINED;
id<MTLHeap> new_heap(id<MTLDevice> device, MTLHeapDescriptor* descriptor) NS_RETURNS_RETAINED;
id<MTLFence> new_fence(id<MTLDevice> device) NS_RETURNS_RETAINED;
id<MTLSharedEvent> new_event(id<MTLDevice> device, std::shared_ptr<host::Event> event) NS_RETURNS_RETAINED;
MTLSharedEventHandle* new_event_handle(std::shared_ptr<host::Event> event, NSString* label) NS_RETURNS_RETAINED;
MTLArchitecture* new_architecture(NSString* name) NS_RETURNS_RETAINED;
// `most` is the argument of newCommandQueueWithMaxCommandBufferCount:.
id<MTLCommandQueue> new_command_queue(id<MTLDevice> device, std::unique_ptr<device::Stream> stream,
                                      NSUInteger most) NS_RETURNS_RETAINED;
// A command buffer that holds a permit of its queue until it is completed.
id<MTLCommandBuffer> new_command_buffer(id<MTLCommandQueue> queue, std::unique_ptr<runtime::InFlight::Permit> permit,
                                        MTLCommandBufferDescriptor* descriptor) NS_RETURNS_RETAINED;
// Waits for a permit of the queue; null at the end of the process. Raises as device_of does.
std::unique_ptr<runtime::InFlight::Permit> permit_of(id<MTLCommandQueue> queue);
id<MTLBlitCommandEncoder> new_blit_encoder(id<MTLCommandBuffer> buffer) NS_RETURNS_RETAINED;

// The size and alignment that a buffer of the length takes in a heap of the device.
MTLSizeAndAlign heap_size_and_align(id<MTLDevice> device, size_t length);

// Adds a command to the command buffer that `buffer` stands for; raises after the commit. It is called as an item of
// the stream, in an autorelease pool. After a failure, the command buffer's error is set. It may not raise or throw.
void encode_on_stream(id<MTLCommandBuffer> buffer, runtime::CommandList::Command command, bool waits = true);
// The same for work of the host, which begins when all that was encoded before is over, and is skipped after a failure.
void encode(id<MTLCommandBuffer> buffer, std::function<host::Status()> work);
// Commits a command as if it were alone in a command buffer, which nobody sees. `over`, if there is one, is called as a
// handler of the queue, with what became of the command.
void commit_alone(id<MTLCommandQueue> queue, runtime::CommandList::Command command, bool waits,
                  std::function<void(const host::Status&)> over);
// Waits until the commands are over, but not for handlers.
void wait_until_finished(id<MTLCommandBuffer> buffer);

// encode() for the open encoder of the buffer, while encode() raises; and the end of the encoder.
void encode_inside(id<MTLCommandBuffer> buffer, std::function<host::Status()> work);
void end_encoder(id<MTLCommandBuffer> buffer);

// The provider of heaps for a command buffer's temporary arrays: nil, or an MPSHeapProvider. Raise as device_of does.
id heap_provider_of(id<MTLCommandBuffer> buffer);
void set_heap_provider(id<MTLCommandBuffer> buffer, id provider);

// Calls a copy of `handler` on the queue's thread for handlers, in an autorelease pool, with no lock held, after
// earlier handlers. Returns false, and does not call it, after the process has ended its work.
bool deliver(id<MTLCommandQueue> queue, dispatch_block_t handler);

// True if the caller is a handler given to deliver().
bool is_delivering(id<MTLCommandQueue> queue);

// Calls a handler after earlier ones and returns when it is done; uses the calling thread if there are none before.
// Raises at the end of the process.
void deliver_now(id<MTLCommandQueue> queue, ir::Callable handler);

}  // namespace alloy::facade

// The accessors of a label, retained in `place`.
#define LABEL(place)                              \
  -(NSString*)label {                             \
    @synchronized(self) {                         \
      return [[place retain] autorelease];        \
    }                                             \
  }                                               \
  -(void)setLabel : (NSString*)label {            \
    require_kind_or_nil(label, [NSString class]); \
    @synchronized(self) {                         \
      [place autorelease];                        \
      place = [label copy];                       \
    }                                             \
  }
