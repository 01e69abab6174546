// Events: numbers that order queues against each other and against the host.

#include <algorithm>
#include <chrono>

#include "facade/metal/require.h"
#include "facade/retained.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyEvent : NSObject <MTLSharedEvent> {
 @package
  std::shared_ptr<host::Event>* _event;
  id<MTLDevice> _device;
  NSString* _label;
}
@end

namespace alloy::facade {

std::shared_ptr<host::Event> event_of(id<MTLEvent> event) {
  static const Class our_class = [AlloyEvent class];
  return *require<AlloyEvent>(event, our_class, @"MTLEvent")->_event;
}

id<MTLSharedEvent> new_event(id<MTLDevice> device, std::shared_ptr<host::Event> event) {
  AlloyEvent* made = [AlloyEvent new];
  made->_event = new std::shared_ptr<host::Event>(std::move(event));
  made->_device = [device retain];
  return made;
}

}  // namespace alloy::facade

@implementation AlloyEvent

LABEL(_label)
@synthesize device = _device;

- (void)dealloc {
  delete _event;
  [_device release];
  [_label release];
  [super dealloc];
}

- (MTLSharedEventHandle*)newSharedEventHandle {
  return new_event_handle(*_event, [self label]);
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
  require_kind(listener, [MTLSharedEventListener class]);
  require_block((id)block);
  refuse_fork();
  // The queue, the block and the event, which the block gets, are kept until the notification.
  Retained<dispatch_queue_t> queue([listener dispatchQueue]);
  Retained<id> owned_block([[(id)block copy] autorelease]);
  Retained<AlloyEvent*> event(self);
  (*_event)->notify(value, [queue, owned_block, event, value] {
    @try {
      dispatch_async(queue.get(), ^{
        ((MTLSharedEventNotificationBlock)owned_block.get())(event.get(), value);
      });
    } @catch (NSException*) {
      // The process has ended; the code that signals has not failed.
    }
  });
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
  refuse_fork();
  constexpr uint64_t kYear = 1000ull * 3600 * 24 * 366;  // Event treats this as no limit
  return (*_event)->wait(value, std::chrono::milliseconds(std::min(milliseconds, kYear))) ? YES : NO;
}

@end
