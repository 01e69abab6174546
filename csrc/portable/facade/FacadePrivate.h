// How the classes of the facade reach each other's C++ parts and the device. Refuses everything a client needs:
// that is in the public headers. Included only by the facade's .mm files.
#pragma once

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "device/array_layout.h"
#include "device/device.h"
#include "device/event.h"
#include "ir/quirks.h"

namespace alloy::facade {

// An Objective-C object retained by a C++ closure.
template <class Object>
class Retained {
 public:
  explicit Retained(Object object) : object_([object retain]) {}
  Retained(const Retained& other) : object_([other.object_ retain]) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Retained& operator=(const Retained&) = delete;
  ~Retained() { [object_ release]; }
  Object get() const { return object_; }

 private:
  Object object_;
};

// Raises NSInvalidArgumentException with one formatted sentence, "[method] what was given and expected.".
[[noreturn]] void raise_invalid(NSString* format, ...) __attribute__((format(NSString, 1, 2)));

// Raises NSInternalInconsistencyException with the message of a failed status; where memory is what lacks,
// NSMallocException.
void raise_if_failed(const device::Status& status);

// Raises in a forked child of a process that has used the device. Every entry that takes a lock calls it first: the
// lock may be held by a thread that the child does not have.
void refuse_fork();

// An autoreleased NSError of a command buffer with the message of `status`; nil when it is ok.
NSError* error_of(const device::Status& status);

// Imitation of a macOS (runtime/imitation.h) ----------------------------------------------------------------

// Raises what stands for the end of the process: an exception named ir::kAbortException.
[[noreturn]] void raise_abort(const std::string& sentence);

// Does so where a system with that quirk is imitated.
void abort_where(ir::Quirk quirk, NSString* method);
bool imitates(ir::Quirk quirk);

// Raises NSInvalidArgumentException where a system was to be imitated that nobody knows.
void refuse_unknown_imitation();

// Takes away the selectors that the imitated system lacks (newer.def).
void hide_newer_selectors();

// Metal ----------------------------------------------------------------------------------------------------

// Every device, one object each, the default one first and the host's own last; not retained for the caller.
NSArray<id<MTLDevice>>* all_devices();

// The device that MTLCreateSystemDefaultDevice returns; not retained for the caller.
id<MTLDevice> default_device();

// The object of a device, of which there is to be one; retained for the caller.
id<MTLDevice> new_device(device::Device& device, uint64_t registry_id) NS_RETURNS_RETAINED;

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

// Where the memory of a buffer with these options is, as they say.
MTLStorageMode storage_mode(MTLResourceOptions options);

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

// Calls a handler after those given before, and returns when it has; on the calling thread where none is left. Raises
// at the end of the process.
void deliver_now(id<MTLCommandQueue> queue, device::Callable handler);

// Arrays ---------------------------------------------------------------------------------------------------

// The packed layout of `shape`; raises, naming `method`, unless all lengths are positive, there are at most
// kMaxRank of them and the number of elements fits an int.
device::ArrayLayout packed_layout(MPSShape* shape, MPSDataType type, NSString* method);

// A new array over `storage`, or over new storage with undefined contents when null; retained for the caller.
MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) NS_RETURNS_RETAINED;

// The memory of `array`; valid while the array lives.
const device::ArrayMemory& memory_of(MPSNDArray* array);

// The memory of `data`; valid while the data lives.
const device::ArrayMemory& memory_of(MPSGraphTensorData* data);

// New packed tensor data with undefined contents, retained for the caller; `shape` has no negative length.
MPSGraphTensorData* new_tensor_data(id<MTLDevice> device, MPSShape* shape, MPSDataType type) NS_RETURNS_RETAINED;

// Bytes of an element; raises for a type that is invalid or narrower than a byte.
size_t element_bytes(MPSDataType type, NSString* method);

// Descriptors ----------------------------------------------------------------------------------------------

// What a run with the descriptor waits for and signals; empty for nil.
const device::EventList& events_of(MPSGraphExecutionDescriptor* descriptor);
const device::EventList& events_of(MPSGraphExecutableExecutionDescriptor* descriptor);

}  // namespace alloy::facade
