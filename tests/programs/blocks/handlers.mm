// Handlers of command buffers and of an event's listener, each called once.
#include "tensor_data.h"

int main() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLSharedEvent> event = [device newSharedEvent];
    dispatch_semaphore_t notified = dispatch_semaphore_create(0);
    MTLSharedEventListener* listener =
        [[MTLSharedEventListener alloc] initWithDispatchQueue:dispatch_queue_create("events", DISPATCH_QUEUE_SERIAL)];
    __block uint64_t seen = 0;
    [event notifyListener:listener
                  atValue:2
                    block:^(id<MTLSharedEvent>, uint64_t value) {
                      seen = value;
                      dispatch_semaphore_signal(notified);
                    }];
    __block int scheduled = 0, completed = 0;
    for (uint64_t i = 1; i <= 2; ++i) {
      id<MTLCommandBuffer> commands = [queue commandBuffer];
      [commands addScheduledHandler:^(id<MTLCommandBuffer>) {
        ++scheduled;
      }];
      [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
        completed += buffer.status == MTLCommandBufferStatusCompleted;
      }];
      [commands encodeSignalEvent:event value:i];
      [commands commit];
      [commands waitUntilCompleted];
    }
    dispatch_semaphore_wait(notified, DISPATCH_TIME_FOREVER);
    CHECK(seen >= 2 && scheduled == 2 && completed == 2);
  }
}
