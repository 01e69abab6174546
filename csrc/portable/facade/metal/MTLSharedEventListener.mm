// The queue on which blocks that wait for events are called.

#import <Metal/Metal.h>

#include "facade/errors.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MTLSharedEventListener

+ (MTLSharedEventListener*)sharedListener {
  static MTLSharedEventListener* const listener = [MTLSharedEventListener new];
  return listener;
}

- (instancetype)init {
  if ((self = [super init])) _impl = dispatch_queue_create("alloy.shared-event-listener", DISPATCH_QUEUE_SERIAL);
  return self;
}

- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue {
  require_dispatch_queue(dispatchQueue);
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
