// The framework's objects of queues and events. Private to the engine.
#pragma once

#import <Metal/Metal.h>

#include "engine/queue.h"
#import "engine/ref.h"

namespace alloy::engine {

struct Event::Impl {
  Ref<id<MTLSharedEvent>> event;
};

struct Queue::Impl {
  Ref<id<MTLCommandQueue>> queue;
};

}  // namespace alloy::engine
