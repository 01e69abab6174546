// Command buffers: encoded work, its commit to a queue, and its handlers.

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "facade/metal/require.h"
#include "facade/retained.h"
#include "host/recycler.h"
#include "runtime/command_list.h"
#include "runtime/guard.h"

using namespace alloy;
using namespace alloy::facade;

NSString* const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

@interface AlloyCommandBuffer : NSObject <MTLCommandBuffer> {
 @package
  std::shared_ptr<runtime::CommandList>* _commands;
  id<MTLCommandQueue> _queue;
  NSMutableArray* _scheduledHandlers;
  NSMutableArray* _completedHandlers;
  NSString* _label;
  runtime::InFlight::Permit* _permit;  // null after completion
  BOOL _retainedReferences;
  MTLCommandBufferErrorOption _errorOptions;
  NSUInteger _groups;
  BOOL _hasOpenEncoder;
  id _heapProvider;
}
@end

namespace {

AlloyCommandBuffer* require_command_buffer(id<MTLCommandBuffer> buffer) {
  static const Class wrapper = [MPSCommandBuffer class];
  static const Class our_class = [AlloyCommandBuffer class];
  while ([(id)buffer isKindOfClass:wrapper]) buffer = [(MPSCommandBuffer*)buffer commandBuffer];
  return require<AlloyCommandBuffer>(buffer, our_class, @"MTLCommandBuffer");
}

// The encoded commands; every use takes a lock.
const std::shared_ptr<runtime::CommandList>& commands_of(AlloyCommandBuffer* buffer) {
  refuse_fork();
  return *buffer->_commands;
}

void require_no_encoder(AlloyCommandBuffer* buffer, NSString* method) {
  if (!buffer->_hasOpenEncoder) return;
  raise_invalid(@"[%@] An encoder of the command buffer has not ended; send it endEncoding before.", method);
}

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

void in_pool(ir::Callable commands) {
  @autoreleasepool {
    commands();
  }
}

}  // namespace

namespace alloy::facade {

id<MTLCommandBuffer> new_command_buffer(id<MTLCommandQueue> queue, std::unique_ptr<runtime::InFlight::Permit> permit,
                                        MTLCommandBufferDescriptor* descriptor) {
  AlloyCommandBuffer* buffer = [AlloyCommandBuffer new];
  buffer->_commands = new std::shared_ptr<runtime::CommandList>(
      std::allocate_shared<runtime::CommandList>(host::Recycler<runtime::CommandList>(), in_pool));
  buffer->_queue = [queue retain];
  buffer->_permit = permit.release();
  buffer->_retainedReferences = descriptor ? [descriptor retainedReferences] : YES;
  buffer->_errorOptions = [descriptor errorOptions];
  return buffer;
}

namespace {

// A command list without a command buffer.
struct Alone final : runtime::CommandList {
  using CommandList::CommandList;
  Retained<id<MTLCommandQueue>> queue;
  std::unique_ptr<runtime::InFlight::Permit> permit;  // null after completion
  std::function<void(const host::Status&)> over;
};

}  // namespace

void commit_alone(id<MTLCommandQueue> queue, runtime::CommandList::Command command, bool waits,
                  std::function<void(const host::Status&)> over) {
  std::unique_ptr<runtime::InFlight::Permit> permit = permit_of(queue);
  if (!permit) raise_if_failed({"The device cannot be used at the end of the process."});
  const auto made = std::allocate_shared<Alone>(host::Recycler<Alone>(), in_pool);
  made->queue = Retained(queue);
  made->permit = std::move(permit);
  made->over = std::move(over);
  made->add(std::move(command), waits);
  // The list lives while it calls the observer.
  raise_if_failed(made->commit(stream_of(queue), [list = made.get()](runtime::CommandList::Phase phase) {
    if (phase == runtime::CommandList::Phase::kScheduled) return;
    @autoreleasepool {
      list->permit.reset();
      if (!list->over) return;
      const std::shared_ptr<runtime::CommandList> kept = list->shared_from_this();
      static_cast<void>(deliver(list->queue.get(), ^{
        list->over(kept->error());
      }));
    }
  }));
}

namespace {

void add(AlloyCommandBuffer* buffer, runtime::CommandList::Command command, bool waits = true) {
  if (!commands_of(buffer)->add(std::move(command), waits)) {
    raise_invalid(@"[MTLCommandBuffer] Nothing can be encoded after commit.");
  }
}

runtime::CommandList::Command on_host(std::function<host::Status()> work) {
  return [work = std::move(work)](device::Stream& stream, device::Outcome& outcome) {
    host::wait_for(stream.fence());
    if (!outcome.ok()) return;
    host::Status status;
    const host::Status thrown{runtime::guard([&] { status = work(); })};
    if (!thrown.ok()) status = thrown;
    if (!status.ok()) outcome.fail(std::move(status));
  };
}

}  // namespace

void encode_on_stream(id<MTLCommandBuffer> buffer, runtime::CommandList::Command command, bool waits) {
  AlloyCommandBuffer* owner = require_command_buffer(buffer);
  require_no_encoder(owner, @"MTLCommandBuffer");
  add(owner, std::move(command), waits);
}

void encode(id<MTLCommandBuffer> buffer, std::function<host::Status()> work) {
  encode_on_stream(buffer, on_host(std::move(work)));
}

void encode_inside(id<MTLCommandBuffer> buffer, std::function<host::Status()> work) {
  add(require_command_buffer(buffer), on_host(std::move(work)));
}

void wait_until_finished(id<MTLCommandBuffer> buffer) {
  commands_of(require_command_buffer(buffer))->wait_until_finished();
}

id<MTLDevice> owner_of(id<MTLCommandBuffer> buffer) { return [require_command_buffer(buffer)->_queue device]; }

void end_encoder(id<MTLCommandBuffer> buffer) { require_command_buffer(buffer)->_hasOpenEncoder = NO; }

id heap_provider_of(id<MTLCommandBuffer> buffer) { return require_command_buffer(buffer)->_heapProvider; }

void set_heap_provider(id<MTLCommandBuffer> buffer, id provider) {
  if (provider != nil && ![provider respondsToSelector:@selector(newHeapWithDescriptor:)]) {
    raise_invalid(@"[MPSHeapProvider] Expected a MPSHeapProvider, got an object of class %@.",
                  NSStringFromClass([provider class]));
  }
  AlloyCommandBuffer* owner = require_command_buffer(buffer);
  [owner->_heapProvider autorelease];
  owner->_heapProvider = [provider retain];
}

}  // namespace alloy::facade

@implementation AlloyCommandBuffer

LABEL(_label)

- (void)dealloc {
  if (_commands && !host::process_is_forked()) (*_commands)->abandon();
  delete _commands;
  delete _permit;
  [_heapProvider release];
  [_queue release];
  [_scheduledHandlers release];
  [_completedHandlers release];
  [_label release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return [_queue device];
}

- (id<MTLCommandQueue>)commandQueue {
  return _queue;
}

- (BOOL)retainedReferences {
  return _retainedReferences;
}

- (MTLCommandBufferErrorOption)errorOptions {
  return _errorOptions;
}

- (CFTimeInterval)kernelStartTime {
  return commands_of(self)->scheduled_time();
}

- (CFTimeInterval)kernelEndTime {
  return commands_of(self)->start_time();
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
  raise_if_failed(commands_of(self)->enqueue(stream_of(_queue)));
}

- (void)commit {
  [self requireUncommittedFor:@"commit"];
  require_no_encoder(self, @"commit");
  // The buffer lives until its last handler has returned.
  Retained<AlloyCommandBuffer*> buffer(self);
  runtime::CommandList::Observer observer = [buffer](runtime::CommandList::Phase phase) {
    const bool begins = phase == runtime::CommandList::Phase::kScheduled;
    if (begins && buffer.get()->_scheduledHandlers == nil) return;
    @autoreleasepool {
      if (begins) {
        deliver_handlers(buffer.get(), buffer.get()->_scheduledHandlers, [] {});
        return;
      }
      delete std::exchange(buffer.get()->_permit, nullptr);
      // Handlers are called even if the owner releases the buffer first.
      deliver_handlers(buffer.get(), buffer.get()->_completedHandlers,
                       [commands = *buffer.get()->_commands] { commands->finish_handling(); });
    }
  };
  raise_if_failed(commands_of(self)->commit(stream_of(_queue), std::move(observer)));
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
  [self requireUncommittedFor:@"addScheduledHandler"];
  require_block((id)block);
  if (!_scheduledHandlers) _scheduledHandlers = [NSMutableArray new];
  [_scheduledHandlers addObject:[[(id)block copy] autorelease]];
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
  [self requireUncommittedFor:@"addCompletedHandler"];
  require_block((id)block);
  if (!_completedHandlers) _completedHandlers = [NSMutableArray new];
  [_completedHandlers addObject:[[(id)block copy] autorelease]];
}

- (void)waitUntilScheduled {
  [self requireCommittedFor:@"waitUntilScheduled"];
  commands_of(self)->wait_until_scheduled();
}

- (void)waitUntilCompleted {
  [self requireCommittedFor:@"waitUntilCompleted"];
  if ([_completedHandlers count] > 0 && is_delivering(_queue) && !commands_of(self)->is_handled()) {
    raise_invalid(@"[waitUntilCompleted] A handler of the queue would wait for ever: the completed handlers of the "
                  @"command buffer are called after it.");
  }
  commands_of(self)->wait_until_handled();
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  host::EventList events;
  events.add_wait(event_of(event), value);
  encode_on_stream(self, [events](device::Stream& stream, device::Outcome& outcome) {
    if (!outcome.ok()) return;
    host::Status status;
    const host::Status thrown{
        runtime::guard([&] { status = events.wait_all([&](const host::FenceRef& fence) { stream.follow(fence); }); })};
    if (!thrown.ok()) status = thrown;
    if (!status.ok()) outcome.fail(status);
  });
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  // Also after failed work, because other queues may wait for the event.
  encode_on_stream(self, [event = event_of(event), value](device::Stream& stream, device::Outcome&) {
    event->signal_after(stream.fence(), value);
  });
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  [self requireUncommittedFor:@"blitCommandEncoder"];
  require_no_encoder(self, @"blitCommandEncoder");
  _hasOpenEncoder = YES;
  return [new_blit_encoder(self) autorelease];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return nil;
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType {
  return nil;
}

- (void)pushDebugGroup:(NSString*)string {
  require_kind(string, [NSString class]);
  ++_groups;
}

- (void)popDebugGroup {
  if (_groups == 0) raise_invalid(@"[popDebugGroup] No group of the command buffer is open.");
  --_groups;
}

@end
