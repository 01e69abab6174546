// The functions of dispatch/dispatch.h: semaphores, groups, once, queues and data as Objective-C objects, built on
// host/work_queue.h and host/thread_pool.h.

#import <Block.h>
#import <dispatch/dispatch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "facade/errors.h"
#include "host/thread_pool.h"
#include "host/work_queue.h"

using alloy::facade::raise_if_failed;
using alloy::facade::raise_invalid;
using alloy::facade::refuse_fork;
using alloy::host::Status;
using alloy::host::ThreadPool;
using alloy::host::WorkQueue;

namespace {

using Clock = std::chrono::steady_clock;

uint64_t now_nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

struct Semaphore {
  std::mutex mutex;
  std::condition_variable given;
  intptr_t value;
  intptr_t waiters = 0;
};

// The blocks that wait for the end of a group, each with its queue.
struct Group {
  std::mutex mutex;
  std::condition_variable done;
  intptr_t entered = 0;
  std::vector<std::pair<dispatch_queue_t, dispatch_block_t>> to_notify;
};

// Waits until `holds`, at most until `timeout`; returns true if it holds.
template <class Condition>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, dispatch_time_t timeout,
                Condition holds) {
  if (timeout == DISPATCH_TIME_NOW) return holds();
  if (timeout != DISPATCH_TIME_FOREVER) {
    return changed.wait_until(lock, Clock::time_point(std::chrono::nanoseconds(timeout)), holds);
  }
  changed.wait(lock, holds);
  return true;
}

// The values of a dispatch_once_t besides 0, which means not run.
constexpr dispatch_once_t kRunning = 1;
constexpr dispatch_once_t kHasRun = ~static_cast<dispatch_once_t>(0);

void run_once(dispatch_once_t* predicate, alloy::ir::Callable work) {
  std::atomic_ref<dispatch_once_t> state(*predicate);
  if (state.load(std::memory_order_acquire) == kHasRun) return;
  dispatch_once_t seen = 0;
  if (state.compare_exchange_strong(seen, kRunning)) {
    work();
    state.store(kHasRun);
    state.notify_all();
  } else if (seen == kRunning) {
    refuse_fork();
    state.wait(kRunning);
  }
}

}  // namespace

// A queue: serial with its own work queue, or concurrent on the threads of the process.
@interface AlloyDispatchQueue : NSObject <OS_dispatch_queue> {
 @package
  WorkQueue* _serial;  // null when concurrent
}
@end

@implementation AlloyDispatchQueue
- (void)dealloc {
  delete _serial;
  [super dealloc];
}
@end

// Attributes of a concurrent queue.
@interface AlloyDispatchQueueAttributes : NSObject <OS_dispatch_queue_attr>
@end

@implementation AlloyDispatchQueueAttributes
@end

@interface AlloyDispatchSemaphore : NSObject <OS_dispatch_semaphore> {
 @package
  Semaphore* _impl;
}
@end

@implementation AlloyDispatchSemaphore
- (void)dealloc {
  delete _impl;
  [super dealloc];
}
@end

@interface AlloyDispatchGroup : NSObject <OS_dispatch_group> {
 @package
  Group* _impl;
}
@end

@implementation AlloyDispatchGroup
- (void)dealloc {
  delete _impl;
  [super dealloc];
}
@end

@interface AlloyDispatchData : NSObject <OS_dispatch_data> {
 @package
  const void* _bytes;
  size_t _size;
  dispatch_queue_t _queue;
  dispatch_block_t _destructor;  // null for bytes that the object owns
}
@end

@implementation AlloyDispatchData
- (void)dealloc {
  if (!_destructor) {
    std::free(const_cast<void*>(_bytes));
  } else if (_queue) {
    @try {
      dispatch_async(_queue, _destructor);
    } @catch (NSException*) {
      // The process has ended or was forked; the memory is freed with it.
    }
  } else {
    _destructor();
  }
  Block_release(_destructor);
  [_queue release];
  [super dealloc];
}
@end

namespace {

AlloyDispatchQueue* make_queue(bool concurrent) {
  AlloyDispatchQueue* queue = [AlloyDispatchQueue new];
  if (!concurrent) queue->_serial = new WorkQueue;
  return queue;
}

AlloyDispatchQueue* queue_of(dispatch_queue_t queue) {
  alloy::facade::require_dispatch_queue(queue);
  return static_cast<AlloyDispatchQueue*>(queue);
}

// Runs `work` later, in an autorelease pool; does not copy blocks.
void run_later(dispatch_queue_t queue, std::function<void()> work) {
  AlloyDispatchQueue* target = queue_of(queue);
  raise_if_failed(target->_serial ? target->_serial->submit(std::move(work))
                                  : ThreadPool::shared().submit(std::move(work)));
}

void run_now(dispatch_queue_t queue, alloy::ir::Callable work) {
  AlloyDispatchQueue* target = queue_of(queue);
  if (target->_serial) {
    raise_if_failed(target->_serial->run(work));
  } else {
    work();
  }
}

}  // namespace

void alloy::facade::require_dispatch_queue(id object) {
  static const Class our_class = [AlloyDispatchQueue class];
  require_kind(object, our_class, @"dispatch_queue_t");
}

void dispatch_retain(dispatch_object_t object) { [object retain]; }

void dispatch_release(dispatch_object_t object) { [object release]; }

dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta) {
  if (when == DISPATCH_TIME_FOREVER) return DISPATCH_TIME_FOREVER;
  const uint64_t start = when == DISPATCH_TIME_NOW ? now_nanoseconds() : when;
  if (delta < 0) {
    const uint64_t back = static_cast<uint64_t>(-(delta + 1)) + 1;
    return start > back ? start - back : 1;
  }
  const uint64_t end = start + static_cast<uint64_t>(delta);
  return end < start ? DISPATCH_TIME_FOREVER : end;
}

void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block) {
  run_once(predicate, [block] { block(); });
}

void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t function) {
  run_once(predicate, [context, function] { function(context); });
}

dispatch_queue_attr_t _alloy_dispatch_queue_concurrent(void) {
  static AlloyDispatchQueueAttributes* attributes = [AlloyDispatchQueueAttributes new];
  return attributes;
}

dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attr) {
  (void)label;
  return make_queue(attr != nil);
}

dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) {
  (void)identifier, (void)flags;
  static AlloyDispatchQueue* queue = make_queue(true);
  return queue;
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) {
  auto copy = Block_copy(block);
  run_later(queue, [copy] {
    @autoreleasepool {
      copy();
      Block_release(copy);
    }
  });
}

void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block) {
  refuse_fork();
  if (when == DISPATCH_TIME_FOREVER) return;
  [queue retain];
  auto copy = Block_copy(block);
  std::thread([=] {
    std::this_thread::sleep_until(Clock::time_point(std::chrono::nanoseconds(when)));
    @autoreleasepool {
      @try {
        dispatch_async(queue, copy);
      } @catch (NSException*) {
        // The process has ended.
      }
      Block_release(copy);
      [queue release];
    }
  }).detach();
}

void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  run_later(queue, [context, work] {
    @autoreleasepool {
      work(context);
    }
  });
}

void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block) {
  run_now(queue, [block] {
    @autoreleasepool {
      block();
    }
  });
}

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  run_now(queue, [context, work] {
    @autoreleasepool {
      work(context);
    }
  });
}

namespace {

// The iterations of one dispatch_apply; several threads take them from one counter.
struct Iterations {
  Iterations(size_t n, std::function<void(size_t)> each) : count(n), body(std::move(each)) {}

  // Runs iterations until none is left; a thread that comes late finds none.
  void take() {
    for (size_t i = next++; i < count; i = next++) {
      @autoreleasepool {
        body(i);
      }
      if (++ended == count) ended.notify_all();
    }
  }

  void wait() {
    for (size_t seen = ended; seen < count; seen = ended) ended.wait(seen);
  }

  const size_t count;
  const std::function<void(size_t)> body;
  std::atomic<size_t> next{0}, ended{0};
};

void apply(dispatch_queue_t queue, size_t count, std::function<void(size_t)> body) {
  refuse_fork();
  const auto iterations = std::make_shared<Iterations>(count, std::move(body));
  AlloyDispatchQueue* target = queue ? queue_of(queue) : nil;
  if (target && target->_serial) {
    run_now(queue, [&] { iterations->take(); });
    return;
  }
  const size_t others = std::min<size_t>(count, std::thread::hardware_concurrency());
  for (size_t i = 1; i < others; ++i) {
    raise_if_failed(ThreadPool::shared().submit([iterations] { iterations->take(); }));
  }
  iterations->take();
  iterations->wait();
}

}  // namespace

void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t)) {
  apply(queue, iterations, [block](size_t i) { block(i); });
}

void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void* context, void (*work)(void*, size_t)) {
  apply(queue, iterations, [context, work](size_t i) { work(context, i); });
}

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
  if (value < 0) return nil;
  AlloyDispatchSemaphore* semaphore = [AlloyDispatchSemaphore new];
  semaphore->_impl = new Semaphore;
  semaphore->_impl->value = value;
  return semaphore;
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
  refuse_fork();
  Semaphore& impl = *static_cast<AlloyDispatchSemaphore*>(semaphore)->_impl;
  std::unique_lock lock(impl.mutex);
  const auto has_one = [&] { return impl.value > 0; };
  ++impl.waiters;
  const bool taken = wait_until(impl.given, lock, timeout, has_one);
  --impl.waiters;
  if (taken) --impl.value;
  return taken ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
  refuse_fork();
  Semaphore& impl = *static_cast<AlloyDispatchSemaphore*>(semaphore)->_impl;
  // Notifies with the lock held, because a woken waiter may release the semaphore.
  std::lock_guard lock(impl.mutex);
  ++impl.value;
  if (impl.waiters == 0) return 0;
  impl.given.notify_one();
  return 1;
}

dispatch_group_t dispatch_group_create(void) {
  AlloyDispatchGroup* group = [AlloyDispatchGroup new];
  group->_impl = new Group;
  return group;
}

// Entering keeps the group alive; programs may release it before it is left.
void dispatch_group_enter(dispatch_group_t group) {
  refuse_fork();
  Group& impl = *static_cast<AlloyDispatchGroup*>(group)->_impl;
  [group retain];
  std::lock_guard lock(impl.mutex);
  ++impl.entered;
}

void dispatch_group_leave(dispatch_group_t group) {
  refuse_fork();
  Group& impl = *static_cast<AlloyDispatchGroup*>(group)->_impl;
  decltype(impl.to_notify) to_notify;
  bool balanced = false;
  {
    std::lock_guard lock(impl.mutex);
    balanced = impl.entered > 0;
    if (balanced && --impl.entered == 0) {
      impl.done.notify_all();
      to_notify.swap(impl.to_notify);
    }
  }
  if (!balanced) raise_invalid(@"[dispatch_group_leave] Expected a group that was entered, but all have left it.");
  for (const auto& [queue, block] : to_notify) {
    dispatch_async(queue, block);
    Block_release(block);
    [queue release];
  }
  [group release];
}

void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_group_enter(group);
  dispatch_async(queue, ^{
    block();
    dispatch_group_leave(group);
  });
}

intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout) {
  refuse_fork();
  Group& impl = *static_cast<AlloyDispatchGroup*>(group)->_impl;
  std::unique_lock lock(impl.mutex);
  return wait_until(impl.done, lock, timeout, [&] { return impl.entered == 0; }) ? 0 : 1;
}

void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
  refuse_fork();
  Group& impl = *static_cast<AlloyDispatchGroup*>(group)->_impl;
  {
    std::lock_guard lock(impl.mutex);
    if (impl.entered > 0) {
      impl.to_notify.emplace_back([queue retain], Block_copy(block));
      return;
    }
  }
  dispatch_async(queue, block);
}

dispatch_block_t _alloy_dispatch_data_destructor_free(void) {
  static dispatch_block_t destructor = Block_copy(^{
  });
  return destructor;
}

dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t queue,
                                     dispatch_block_t destructor) {
  AlloyDispatchData* data = [AlloyDispatchData new];
  data->_size = size;
  if (destructor == DISPATCH_DATA_DESTRUCTOR_DEFAULT) {
    void* copy = std::malloc(size ? size : 1);
    std::memcpy(copy, buffer, size);
    data->_bytes = copy;
  } else if (destructor == DISPATCH_DATA_DESTRUCTOR_FREE) {
    data->_bytes = buffer;  // freed like the object's own bytes
  } else {
    data->_bytes = buffer;
    data->_queue = [queue retain];
    data->_destructor = Block_copy(destructor);
  }
  return data;
}

size_t dispatch_data_get_size(dispatch_data_t data) { return static_cast<AlloyDispatchData*>(data)->_size; }

dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** buffer, size_t* size) {
  auto* bytes = static_cast<AlloyDispatchData*>(data);
  if (buffer) *buffer = bytes->_bytes;
  if (size) *size = bytes->_size;
  return [bytes retain];
}
