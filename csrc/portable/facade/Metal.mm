// The Metal objects: the device, its buffers and events, command queues and command buffers. Knows nothing of
// arrays and graphs.

#import <Block.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstring>

#include "compiler/imitation.h"
#include "cpu/device.h"
#include "cpu/kernel.h"
#include "facade/FacadePrivate.h"
#include "runtime/command_list.h"
#include "runtime/guard.h"

using namespace alloy;
using namespace alloy::facade;

NSString* const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

@interface AlloyDevice : NSObject <MTLDevice> {
 @package
  device::Device* _device;
}
// Counts by name, for whoever asks with respondsToSelector:.
- (NSDictionary*)alloyCounters;
- (void)alloySetThreads:(NSUInteger)count;
- (NSUInteger)alloyThreads;
// Major and minor version of the macOS that is imitated; 0 and 0 without one.
- (NSArray*)alloySystem;
@end

@interface AlloyBuffer : NSObject <MTLBuffer> {
 @package
  std::shared_ptr<device::Storage>* _storage;
  id<MTLDevice> _device;
  MTLResourceOptions _options;
  NSString* _label;
}
@end

@interface AlloyEvent : NSObject <MTLSharedEvent> {
 @package
  std::shared_ptr<device::Event>* _event;
  id<MTLDevice> _device;
  NSString* _label;
}
@end

namespace {

struct QueueParts {
  std::unique_ptr<device::Stream> stream;
  device::WorkQueue handlers;
  std::atomic<bool> has_delivered{false};
};

}  // namespace

@interface AlloyCommandQueue : NSObject <MTLCommandQueue> {
 @package
  QueueParts* _parts;
  id<MTLDevice> _device;
  NSString* _label;
}
@end

@interface AlloyCommandBuffer : NSObject <MTLCommandBuffer> {
 @package
  std::shared_ptr<runtime::CommandList>* _commands;
  AlloyCommandQueue* _queue;
  NSMutableArray* _scheduledHandlers;
  NSMutableArray* _completedHandlers;
  NSString* _label;
}
@end

namespace alloy::facade {

void raise_invalid(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NSString* reason = [[[NSString alloc] initWithFormat:format arguments:arguments] autorelease];
  va_end(arguments);
  [[NSException exceptionWithName:NSInvalidArgumentException reason:reason userInfo:nil] raise];
  __builtin_unreachable();
}

static bool lacks_memory(const device::Status& status) { return status.message == runtime::kMemoryIsExhausted; }

void raise_if_failed(const device::Status& status) {
  if (status.ok()) return;
  NSString* reason = [NSString stringWithUTF8String:status.message.c_str()];
  [[NSException exceptionWithName:lacks_memory(status) ? NSMallocException : NSInternalInconsistencyException
                           reason:reason
                         userInfo:nil] raise];
}

void refuse_fork() {
  if (device::process_is_forked()) raise_if_failed(device::process_status());
}

NSError* error_of(const device::Status& status) {
  if (status.ok()) return nil;
  NSString* message = [NSString stringWithUTF8String:status.message.c_str()];
  return
      [NSError errorWithDomain:MTLCommandBufferErrorDomain
                          code:lacks_memory(status) ? MTLCommandBufferErrorOutOfMemory : MTLCommandBufferErrorInternal
                      userInfo:[NSDictionary dictionaryWithObject:message forKey:NSLocalizedDescriptionKey]];
}

namespace {

// The object as an instance of our class; a caller's own implementation of a Metal protocol is of no use here.
template <class Ours>
Ours* require(id object, Class our_class, NSString* what) {
  if (!object) raise_invalid(@"[%@] Expected a %@, but got nil.", what, what);
  if (object_getClass(object) != our_class && ![object isKindOfClass:our_class]) {
    raise_invalid(@"[%@] Expected a %@ of this framework, but got an object of class %@.", what, what,
                  NSStringFromClass([object class]));
  }
  return static_cast<Ours*>(object);
}

AlloyCommandQueue* require_queue(id<MTLCommandQueue> queue) {
  static const Class our_class = [AlloyCommandQueue class];
  return require<AlloyCommandQueue>(queue, our_class, @"MTLCommandQueue");
}

AlloyCommandBuffer* require_command_buffer(id<MTLCommandBuffer> buffer) {
  static const Class wrapper = [MPSCommandBuffer class];
  static const Class our_class = [AlloyCommandBuffer class];
  while ([(id)buffer isKindOfClass:wrapper]) buffer = [(MPSCommandBuffer*)buffer commandBuffer];
  return require<AlloyCommandBuffer>(buffer, our_class, @"MTLCommandBuffer");
}

// What is encoded, of which every use takes a lock.
const std::shared_ptr<runtime::CommandList>& commands_of(AlloyCommandBuffer* buffer) {
  refuse_fork();
  return *buffer->_commands;
}

}  // namespace

id<MTLDevice> default_device() {
  static AlloyDevice* const device = [] {
    AlloyDevice* made = [AlloyDevice new];
    made->_device = &cpu::cpu_device();
    return made;
  }();
  return device;
}

id<MTLCommandQueue> default_queue() {
  static const id<MTLCommandQueue> queue = [default_device() newCommandQueue];
  return queue;
}

device::Device& device_of(id<MTLDevice> device) {
  static const Class our_class = [AlloyDevice class];
  return *require<AlloyDevice>(device, our_class, @"MTLDevice")->_device;
}

device::Stream& stream_of(id<MTLCommandQueue> queue) { return *require_queue(queue)->_parts->stream; }

std::shared_ptr<device::Event> event_of(id<MTLEvent> event) {
  static const Class our_class = [AlloyEvent class];
  return *require<AlloyEvent>(event, our_class, @"MTLEvent")->_event;
}

const std::shared_ptr<device::Storage>& storage_of(id<MTLBuffer> buffer) {
  static const Class our_class = [AlloyBuffer class];
  return *require<AlloyBuffer>(buffer, our_class, @"MTLBuffer")->_storage;
}

void encode(id<MTLCommandBuffer> buffer, std::function<device::Status()> work) {
  const bool added = commands_of(require_command_buffer(buffer))->add([work = std::move(work)]() -> device::Status {
    @autoreleasepool {
      return work();
    }
  });
  if (!added) raise_invalid(@"[MTLCommandBuffer] Nothing can be encoded after commit.");
}

bool deliver(id<MTLCommandQueue> queue, dispatch_block_t handler) {
  auto copy = Block_copy(handler);
  QueueParts& parts = *require_queue(queue)->_parts;
  parts.has_delivered.store(true);
  const device::Status status = parts.handlers.submit([copy] {
    @autoreleasepool {
      copy();
      Block_release(copy);
    }
  });
  if (!status.ok()) Block_release(copy);
  return status.ok();
}

void deliver_now(id<MTLCommandQueue> queue, device::Callable handler) {
  QueueParts& parts = *require_queue(queue)->_parts;
  if (!parts.has_delivered.load()) handler();  // there are none before it
  else raise_if_failed(parts.handlers.run(handler));
}

}  // namespace alloy::facade

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  refuse_unknown_imitation();
  return [default_device() retain];
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  refuse_unknown_imitation();
  return [[NSArray alloc] initWithObjects:default_device(), nil];
}

namespace {

AlloyBuffer* make_buffer(AlloyDevice* device, std::shared_ptr<device::Storage> storage, MTLResourceOptions options) {
  if (!storage) return nil;
  AlloyBuffer* buffer = [AlloyBuffer new];
  buffer->_storage = new std::shared_ptr<device::Storage>(std::move(storage));
  buffer->_device = [device retain];
  buffer->_options = options;
  return buffer;
}

MTLStorageMode storage_mode(MTLResourceOptions options) { return static_cast<MTLStorageMode>((options >> 4) & 0xf); }

std::shared_ptr<device::Storage> allocate_buffer(AlloyDevice* device, NSUInteger length, MTLResourceOptions options) {
  if (length == 0) raise_invalid(@"[newBufferWithLength] The length is 0; a buffer has at least one byte.");
  if (storage_mode(options) == MTLStorageModeMemoryless) {
    raise_invalid(@"[newBufferWithLength] The storage mode is memoryless, which only textures can have.");
  }
  if (length > device->_device->memory_size()) return nullptr;
  return device->_device->allocate(length);
}

AlloyEvent* make_event(AlloyDevice* device) {
  AlloyEvent* event = [AlloyEvent new];
  event->_event = new std::shared_ptr<device::Event>(std::make_shared<device::Event>());
  event->_device = [device retain];
  return event;
}

NSNumber* number(const std::atomic<uint64_t>& counter) {
  return [NSNumber numberWithUnsignedLongLong:counter.load(std::memory_order_relaxed)];
}

}  // namespace

@implementation AlloyDevice

- (NSString*)name {
  return @"Alloy CPU";
}

- (uint64_t)registryID {
  return 1;
}

- (BOOL)hasUnifiedMemory {
  return YES;
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
  AlloyCommandQueue* queue = [AlloyCommandQueue new];
  queue->_parts = new QueueParts{.stream = _device->make_stream()};
  queue->_device = [self retain];
  return queue;
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  std::shared_ptr<device::Storage> storage = allocate_buffer(self, length, options);
  if (storage) std::memset(storage->host_bytes(), 0, length);
  return make_buffer(self, std::move(storage), options);
}

- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer length:(NSUInteger)length options:(MTLResourceOptions)options {
  if (!pointer) raise_invalid(@"[newBufferWithBytes] The pointer is NULL.");
  std::shared_ptr<device::Storage> storage = allocate_buffer(self, length, options);
  if (storage) storage->write(0, pointer, length);
  return make_buffer(self, std::move(storage), options);
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  if (!pointer || length == 0) return nil;
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
  return make_buffer(self, _device->adopt(pointer, length, std::move(release)), options);
}

- (id<MTLEvent>)newEvent {
  return make_event(self);
}

- (id<MTLSharedEvent>)newSharedEvent {
  return make_event(self);
}

- (void)alloySetThreads:(NSUInteger)count {
  refuse_fork();
  cpu::set_kernel_threads(static_cast<int>(std::min<NSUInteger>(count, INT_MAX)));
}

- (NSUInteger)alloyThreads {
  refuse_fork();
  return static_cast<NSUInteger>(cpu::most_threads(cpu::kernel_threads()));
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

@implementation AlloyBuffer

@synthesize label = _label;
@synthesize device = _device;

- (void)dealloc {
  delete _storage;
  [_device release];
  [_label release];
  [super dealloc];
}

- (NSUInteger)length {
  return (*_storage)->size();
}

- (void*)contents {
  if (storage_mode(_options) == MTLStorageModePrivate) {
    raise_invalid(@"[contents] The storage mode of the buffer is private, so the host cannot see it.");
  }
  return (*_storage)->host_bytes();
}

- (void)didModifyRange:(NSRange)range {
  if (range.location > [self length] || range.length > [self length] - range.location) {
    raise_invalid(@"[didModifyRange] The range {%lu, %lu} is not inside the %lu bytes of the buffer.",
                  static_cast<unsigned long>(range.location), static_cast<unsigned long>(range.length),
                  static_cast<unsigned long>([self length]));
  }
}

- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(_options & 0xf);
}

- (MTLStorageMode)storageMode {
  return storage_mode(_options);
}

- (MTLHazardTrackingMode)hazardTrackingMode {
  const auto mode = static_cast<MTLHazardTrackingMode>((_options >> 8) & 0x3);
  return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeTracked : mode;
}

- (MTLResourceOptions)resourceOptions {
  return _options;
}

- (NSUInteger)allocatedSize {
  return [self length];
}

@end

@implementation MTLSharedEventListener

- (instancetype)init {
  if ((self = [super init])) _impl = dispatch_queue_create("alloy.shared-event-listener", DISPATCH_QUEUE_SERIAL);
  return self;
}

- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue {
  if (!dispatchQueue) raise_invalid(@"[initWithDispatchQueue] The dispatch queue is nil.");
  if ((self = [super init])) _impl = [dispatchQueue retain];
  return self;
}

- (void)dealloc {
  [static_cast<dispatch_queue_t>(_impl) release];
  [super dealloc];
}

- (dispatch_queue_t)dispatchQueue {
  return static_cast<dispatch_queue_t>(_impl);
}

@end

@implementation AlloyEvent

@synthesize label = _label;
@synthesize device = _device;

- (void)dealloc {
  delete _event;
  [_device release];
  [_label release];
  [super dealloc];
}

- (uint64_t)signaledValue {
  refuse_fork();
  return (*_event)->value();
}

- (void)setSignaledValue:(uint64_t)value {
  refuse_fork();
  (*_event)->signal(value);
}

- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  if (!listener || !block) raise_invalid(@"[notifyListener] The listener or the block is nil.");
  refuse_fork();
  // Held until notified, together with the event itself, which the block is given.
  Retained<dispatch_queue_t> queue([listener dispatchQueue]);
  Retained<id> owned_block([[(id)block copy] autorelease]);
  Retained<AlloyEvent*> event(self);
  (*_event)->notify(value, [queue, owned_block, event, value] {
    @try {
      dispatch_async(queue.get(), ^{
        ((MTLSharedEventNotificationBlock)owned_block.get())(event.get(), value);
      });
    } @catch (NSException*) {
      // The process has ended, and whoever signals is not to blame.
    }
  });
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  refuse_fork();
  constexpr uint64_t kYear = 1000ull * 3600 * 24 * 366;  // Event takes this for no limit
  return (*_event)->wait(value, std::chrono::milliseconds(std::min(milliseconds, kYear))) ? YES : NO;
}

@end

@implementation AlloyCommandQueue

@synthesize label = _label;
@synthesize device = _device;

- (void)dealloc {
  delete _parts;
  [_device release];
  [_label release];
  [super dealloc];
}

- (id<MTLCommandBuffer>)commandBuffer {
  AlloyCommandBuffer* buffer = [[AlloyCommandBuffer new] autorelease];
  buffer->_commands = new std::shared_ptr<runtime::CommandList>(std::make_shared<runtime::CommandList>());
  buffer->_queue = [self retain];
  return buffer;
}

@end

namespace {

// Calls the handlers of a command buffer on the thread of the queue for handlers, then `then`.
void deliver_handlers(AlloyCommandBuffer* buffer, NSMutableArray* handlers, std::function<void()> then) {
  if ([handlers count] == 0) {
    then();
    return;
  }
  const bool delivered = deliver(buffer->_queue, ^{
    for (id handler in handlers) ((MTLCommandBufferHandler)handler)(buffer);
    then();
  });
  if (!delivered) then();
}

}  // namespace

@implementation AlloyCommandBuffer

@synthesize label = _label;

- (void)dealloc {
  if (_commands && !device::process_is_forked()) (*_commands)->abandon();
  delete _commands;
  [_queue release];
  [_scheduledHandlers release];
  [_completedHandlers release];
  [_label release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return _queue->_device;
}

- (id<MTLCommandQueue>)commandQueue {
  return _queue;
}

- (CFTimeInterval)GPUStartTime {
  return commands_of(self)->start_time();
}

- (CFTimeInterval)GPUEndTime {
  return commands_of(self)->end_time();
}

- (MTLCommandBufferStatus)status {
  switch (commands_of(self)->phase()) {
    case runtime::CommandList::Phase::kEncoding: return MTLCommandBufferStatusNotEnqueued;
    case runtime::CommandList::Phase::kEnqueued: return MTLCommandBufferStatusEnqueued;
    case runtime::CommandList::Phase::kCommitted: return MTLCommandBufferStatusCommitted;
    case runtime::CommandList::Phase::kScheduled: return MTLCommandBufferStatusScheduled;
    case runtime::CommandList::Phase::kCompleted: return MTLCommandBufferStatusCompleted;
    case runtime::CommandList::Phase::kFailed: return MTLCommandBufferStatusError;
  }
  __builtin_unreachable();
}

- (NSError*)error {
  return error_of(commands_of(self)->error());
}

- (void)requireUncommittedFor:(NSString*)method {
  if (commands_of(self)->phase() >= runtime::CommandList::Phase::kCommitted) {
    raise_invalid(@"[%@] The command buffer has been committed already.", method);
  }
}

- (void)requireCommittedFor:(NSString*)method {
  if (commands_of(self)->phase() < runtime::CommandList::Phase::kCommitted) {
    raise_invalid(@"[%@] The command buffer has not been committed.", method);
  }
}

- (void)enqueue {
  [self requireUncommittedFor:@"enqueue"];
  raise_if_failed(commands_of(self)->enqueue(*_queue->_parts->stream));
}

- (void)commit {
  [self requireUncommittedFor:@"commit"];
  // The buffer lives until its last handler has returned.
  Retained<AlloyCommandBuffer*> buffer(self);
  runtime::CommandList::Observer observer;
  observer.on_scheduled = [buffer] {
    @autoreleasepool {
      deliver_handlers(buffer.get(), buffer.get()->_scheduledHandlers, [] {});
    }
  };
  observer.on_finished = [buffer] {
    @autoreleasepool {
      // Handled even when the owner lets go of the buffer first.
      deliver_handlers(buffer.get(), buffer.get()->_completedHandlers,
                       [commands = *buffer.get()->_commands] { commands->finish_handling(); });
    }
  };
  raise_if_failed(commands_of(self)->commit(*_queue->_parts->stream, std::move(observer)));
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  [self requireUncommittedFor:@"addScheduledHandler"];
  if (!block) raise_invalid(@"[addScheduledHandler] The block is nil.");
  if (!_scheduledHandlers) _scheduledHandlers = [NSMutableArray new];
  [_scheduledHandlers addObject:[[(id)block copy] autorelease]];
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  [self requireUncommittedFor:@"addCompletedHandler"];
  if (!block) raise_invalid(@"[addCompletedHandler] The block is nil.");
  if (!_completedHandlers) _completedHandlers = [NSMutableArray new];
  [_completedHandlers addObject:[[(id)block copy] autorelease]];
}

- (void)waitUntilScheduled {
  [self requireCommittedFor:@"waitUntilScheduled"];
  commands_of(self)->wait_until_scheduled();
}

- (void)waitUntilCompleted {
  [self requireCommittedFor:@"waitUntilCompleted"];
  commands_of(self)->wait_until_handled();
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  encode(self, [event = event_of(event), value]() -> device::Status {
    if (event->wait(value)) return {};
    return {"The process ended before an event that a command buffer waits for was signalled."};
  });
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  encode(self, [event = event_of(event), value]() -> device::Status {
    event->signal(value);
    return {};
  });
}

@end
