// How the facade's other classes reach its Metal classes (device, queues, events, buffers) and the C++ objects behind
// them.
#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <memory>

#include "device/device.h"
#include "device/event.h"
#include "facade/errors.h"

namespace alloy::facade {

// Every device, one object each, the default one first and the host's own last; not retained for the caller.
NSArray<id<MTLDevice>>* all_devices();

// The device that MTLCreateSystemDefaultDevice returns; not retained for the caller.
id<MTLDevice> default_device();

// The queue of runs that name none; not retained for the caller.
id<MTLCommandQueue> default_queue();

// The device behind a Metal device; raises for nil and for a device of another make.
device::Device& device_of(id<MTLDevice> device);

// The stream behind a command queue; raises as device_of does. Valid while the queue lives.
device::Stream& stream_of(id<MTLCommandQueue> queue);

// The event behind a shared or plain event; raises as device_of does.
std::shared_ptr<device::Event> event_of(id<MTLEvent> event);

// The storage behind a buffer; raises as device_of does.
const std::shared_ptr<device::Storage>& storage_of(id<MTLBuffer> buffer);

// Where these options put the memory of a buffer.
MTLStorageMode storage_mode(MTLResourceOptions options);

// A new object for a device, retained for the caller. Make one for each device.
id<MTLDevice> new_device(device::Device& device, uint64_t registry_id) NS_RETURNS_RETAINED;

// New objects of a device, retained for the caller. A buffer is nil where there is no storage.
id<MTLBuffer> new_buffer(id<MTLDevice> device, std::shared_ptr<device::Storage> storage,
                         MTLResourceOptions options) NS_RETURNS_RETAINED;
id<MTLSharedEvent> new_event(id<MTLDevice> device) NS_RETURNS_RETAINED;
id<MTLCommandQueue> new_command_queue(id<MTLDevice> device, std::unique_ptr<device::Stream> stream) NS_RETURNS_RETAINED;
id<MTLCommandBuffer> new_command_buffer(id<MTLCommandQueue> queue) NS_RETURNS_RETAINED;

// Adds work to the command buffer that `buffer` stands for; raises when it is committed. The work runs on the
// stream, in an autorelease pool, in order with what was encoded before; once an item has failed the rest of
// the command buffer is skipped and its error is set. The work must not raise or throw.
void encode(id<MTLCommandBuffer> buffer, std::function<device::Status()> work);

// Calls a copy of `handler` on the thread of the queue that serves handlers, in an autorelease pool, with no
// lock held, after the handlers given before; false, without calling it, once the process has ended its work.
bool deliver(id<MTLCommandQueue> queue, dispatch_block_t handler);

// Calls a handler after those given before, and returns when that is done; on the calling thread if none were given
// before. Raises at the end of the process.
void deliver_now(id<MTLCommandQueue> queue, device::Callable handler);

}  // namespace alloy::facade
