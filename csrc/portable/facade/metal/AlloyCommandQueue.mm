// Command queues: a stream of the device, and a thread for handlers.

#import <Block.h>

#include <atomic>

#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct QueueParts {
  std::unique_ptr<device::Stream> stream;
  std::shared_ptr<runtime::InFlight> uncompleted;
  host::WorkQueue handlers{stream->awake()};
  std::atomic<bool> has_delivered{false};
};

}  // namespace

@interface AlloyCommandQueue : NSObject <MTLCommandQueue> {
 @package
  QueueParts* _parts;
  id<MTLDevice> _device;
  NSString* _label;
}
// Makes a command buffer with the descriptor's settings; nil means those of commandBuffer.
- (id<MTLCommandBuffer>)makeCommandBuffer:(MTLCommandBufferDescriptor*)descriptor;
@end

namespace {

AlloyCommandQueue* require_queue(id<MTLCommandQueue> queue) {
  static const Class our_class = [AlloyCommandQueue class];
  return require<AlloyCommandQueue>(queue, our_class, @"MTLCommandQueue");
}

}  // namespace

namespace alloy::facade {

id<MTLCommandQueue> default_queue() {
  static const id<MTLCommandQueue> queue = [default_device() newCommandQueue];
  return queue;
}

id<MTLCommandQueue> new_command_queue(id<MTLDevice> device, std::unique_ptr<device::Stream> stream, NSUInteger most) {
  AlloyCommandQueue* queue = [AlloyCommandQueue new];
  queue->_parts = new QueueParts{.stream = std::move(stream), .uncompleted = std::make_shared<runtime::InFlight>(most)};
  queue->_device = [device retain];
  return queue;
}

std::unique_ptr<runtime::InFlight::Permit> permit_of(id<MTLCommandQueue> queue) {
  refuse_fork();
  return require_queue(queue)->_parts->uncompleted->take();
}

id<MTLDevice> owner_of(id<MTLCommandQueue> queue) { return require_queue(queue)->_device; }

device::Stream& stream_of(id<MTLCommandQueue> queue) { return *require_queue(queue)->_parts->stream; }

bool deliver(id<MTLCommandQueue> queue, dispatch_block_t handler) {
  auto copy = Block_copy(handler);
  QueueParts& parts = *require_queue(queue)->_parts;
  parts.has_delivered.store(true);
  const host::Status status = parts.handlers.submit([copy] {
    @autoreleasepool {
      copy();
      Block_release(copy);
    }
  });
  if (!status.ok()) Block_release(copy);
  return status.ok();
}

bool is_delivering(id<MTLCommandQueue> queue) { return require_queue(queue)->_parts->handlers.is_calling(); }

void deliver_now(id<MTLCommandQueue> queue, ir::Callable handler) {
  QueueParts& parts = *require_queue(queue)->_parts;
  if (!parts.has_delivered.load()) handler();  // no handlers come before it
  else raise_if_failed(parts.handlers.run(handler));
}

}  // namespace alloy::facade

@implementation AlloyCommandQueue

LABEL(_label)
@synthesize device = _device;

- (void)dealloc {
  delete _parts;
  [_device release];
  [_label release];
  [super dealloc];
}

- (id<MTLCommandBuffer>)commandBuffer {
  return [self makeCommandBuffer:nil];
}

- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor {
  require_kind(descriptor, [MTLCommandBufferDescriptor class]);
  return [self makeCommandBuffer:descriptor];
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  MTLCommandBufferDescriptor* descriptor = [[MTLCommandBufferDescriptor new] autorelease];
  [descriptor setRetainedReferences:NO];
  return [self makeCommandBuffer:descriptor];
}

- (id<MTLCommandBuffer>)makeCommandBuffer:(MTLCommandBufferDescriptor*)descriptor {
  std::unique_ptr<runtime::InFlight::Permit> permit = permit_of(self);
  if (!permit) return nil;  // at the end of the process
  return [new_command_buffer(self, std::move(permit), descriptor) autorelease];
}

@end
