// What becomes of work when a process forks or ends. Each case runs in a child of its own, which must end in time.
//
// A forked child cannot use Apple's Metal at all: this program skips itself where the device does not say that it is
// the portable one.

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "objects.h"

static bool g_has_threads = false, g_owners_are_gone = false;

// Asked by LeakSanitizer, where there is one, at the end of a process. What threads of the parent held is nobody's in
// its child.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return g_owners_are_gone; }

// The exit code of a child that runs `work` and then calls exit(0); -1 when it does not end within `seconds`.
static int exit_code(int (*work)(), int seconds = 20) {
  const pid_t child = fork();
  if (child == 0) {
    g_owners_are_gone = g_has_threads;
    std::exit(work());
  }
  for (int i = 0; i < seconds * 100; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

static int run_one_command_buffer() {
  int code = 1;
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer commit];
    [buffer waitUntilCompleted];
    code = [buffer status] == MTLCommandBufferStatusCompleted ? 0 : 2;
    [queue release];
    [device release];
  }
  return code;
}

static id<MTLCommandQueue> g_used_queue;

static int raise_instead_of_hanging() {
  int code = 1;
  @autoreleasepool {
    @try {
      id<MTLCommandBuffer> buffer = [g_used_queue commandBuffer];
      [buffer commit];
      [buffer waitUntilCompleted];
    } @catch (NSException* exception) {
      code = [[exception reason] rangeOfString:@"forked"].location == NSNotFound ? 2 : 0;
    } @
    try {
      run_one_command_buffer();
      code = 3;
    } @catch (NSException*) {
    }
  }
  return code;
}

// exit() is called while handlers are still to be called; they are, and each takes a while.
static int g_pipe[2];

static int leave_work_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    for (int i = 0; i < 5; ++i) {
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const char byte = 'x';
        if (write(g_pipe[1], &byte, 1) != 1) std::abort();
      }];
      [buffer commit];
    }
  }
  return 0;
}

static int leave_an_unsatisfied_wait_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer encodeWaitForEvent:[device newSharedEvent] value:1];
    [buffer commit];
    [[queue commandBuffer] enqueue];
    id<MTLCommandBuffer> reserved = [[queue commandBuffer] retain];
    [reserved enqueue];
  }
  return 0;
}

static void write_byte(char byte) {
  if (write(g_pipe[1], &byte, 1) != 1) std::abort();
}

// Many waits, one behind the other, for what never comes: each handler is told of it once, and all of that together
// takes no longer than one of them.
static int leave_many_unsatisfied_waits_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    for (int i = 0; i < 30; ++i) {
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      [buffer encodeWaitForEvent:[device newSharedEvent] value:1];
      [buffer addCompletedHandler:^(id<MTLCommandBuffer> failed) {
        const bool is_told = [[[failed error] localizedDescription] rangeOfString:@"event"].location != NSNotFound;
        write_byte(is_told && [failed status] == MTLCommandBufferStatusError ? 'f' : '?');
      }];
      [buffer commit];
    }
  }
  return 0;
}

static int leave_queues_that_wait_for_each_other_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLSharedEvent> events[] = {[device newSharedEvent], [device newSharedEvent]};
    for (int i = 0; i < 2; ++i) {
      id<MTLCommandBuffer> buffer = [[device newCommandQueue] commandBuffer];
      [buffer encodeWaitForEvent:events[i] value:1];
      [buffer encodeSignalEvent:events[1 - i] value:1];
      [buffer commit];
    }
  }
  return 0;
}

// What works at the end is waited for, and so is what waits for that.
static int leave_a_wait_for_slow_work_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLSharedEvent> event = [device newSharedEvent];
    id<MTLCommandBuffer> slow = [[device newCommandQueue] commandBuffer];
    [slow addCompletedHandler:^(id<MTLCommandBuffer>) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      [event setSignaledValue:1];
    }];
    id<MTLCommandBuffer> waiting = [[device newCommandQueue] commandBuffer];
    [waiting encodeWaitForEvent:event value:1];
    [waiting addCompletedHandler:^(id<MTLCommandBuffer> completed) {
      write_byte([completed error] == nil ? 's' : '?');
    }];
    [waiting commit];
    [slow commit];
  }
  return 0;
}

static int exit_in_a_handler() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
      std::exit(7);
    }];
    [buffer commit];
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

// The parent has not run anything yet, so its children may.
TEST(children_of_an_idle_process_run) { CHECK(exit_code(run_one_command_buffer) == 0); }

// What came through the pipe from children that are gone.
static std::string told() {
  close(g_pipe[1]);
  std::string text;
  char bytes[16];
  while (const ssize_t count = read(g_pipe[0], bytes, sizeof bytes)) text.append(bytes, static_cast<size_t>(count));
  return text;
}

TEST(the_end_of_a_process_waits_for_its_work) {
  CHECK(pipe(g_pipe) == 0);
  CHECK(exit_code(leave_work_behind) == 0);
  CHECK(told().size() == 5);  // as many handlers
}

TEST(the_end_of_a_process_does_not_wait_for_ever) {
  CHECK(exit_code(leave_an_unsatisfied_wait_behind) == 0);
  CHECK(pipe(g_pipe) == 0);
  CHECK(exit_code(leave_many_unsatisfied_waits_behind, 5) == 0);
  CHECK(exit_code(leave_queues_that_wait_for_each_other_behind, 5) == 0);
  CHECK(exit_code(leave_a_wait_for_slow_work_behind, 8) == 0);
  CHECK(told() == std::string(30, 'f') + "s");
}

TEST(a_handler_may_end_the_process) { CHECK(exit_code(exit_in_a_handler) == 7); }

TEST(children_of_a_used_process_raise) {
  g_used_queue = the_queue();
  CHECK(run_one_command_buffer() == 0);
  g_has_threads = true;
  CHECK(exit_code(raise_instead_of_hanging) == 0);
  CHECK(run_one_command_buffer() == 0);
}

// The locks of AddressSanitizer's own allocator are not made for forks of a busy process: its children hang in malloc.
#if !__has_feature(address_sanitizer)

// What a thread does while the process forks: the runs and compilations of one graph, one executable and one queue,
// with their locks.
struct Busy {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLCommandQueue> queue = [device newCommandQueue];
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [graph
      placeholderWithShape:[NSArray arrayWithObjects:[NSNumber numberWithInt:-1], [NSNumber numberWithInt:64], nil]
                      name:nil];
  MPSGraphTensor* y = x;
  MPSGraphExecutable* executable = nil;
  MPSGraphTensorData *data = nil, *result = nil;
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLCommandBuffer> unfinished = nil;
  dispatch_queue_t serial = dispatch_queue_create("busy", DISPATCH_QUEUE_SERIAL);
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  std::atomic<bool> ended{false};

  static MPSShape* shape(int rows) {
    return [NSArray arrayWithObjects:[NSNumber numberWithInt:rows], [NSNumber numberWithInt:64], nil];
  }
  static MPSGraphShapedType* type(int rows) {
    return [[[MPSGraphShapedType alloc] initWithShape:shape(rows) dataType:MPSDataTypeFloat32] autorelease];
  }
  MPSGraphTensorData* rows(int count) const {
    NSData* bytes = [NSMutableData dataWithLength:static_cast<NSUInteger>(count) * 64 * sizeof(float)];
    return [[[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                  data:bytes
                                                 shape:shape(count)
                                              dataType:MPSDataTypeFloat32] autorelease];
  }

  Busy() {
    for (int i = 0; i < 60; ++i) {
      MPSGraphTensor* turned = [graph transposeTensor:y dimension:0 withDimension:1 name:nil];
      MPSGraphTensor* square = [graph matrixMultiplicationWithPrimaryTensor:turned secondaryTensor:y name:nil];
      y = [graph tanhWithTensor:[graph matrixMultiplicationWithPrimaryTensor:y secondaryTensor:square name:nil]
                           name:nil];
    }
    executable = [[graph compileWithDevice:nil
                                     feeds:[NSDictionary dictionaryWithObject:type(-1) forKey:x]
                             targetTensors:[NSArray arrayWithObject:y]
                          targetOperations:nil
                     compilationDescriptor:nil] retain];
    data = [rows(256) retain];
    result = [[[graph runWithFeeds:feeds() targetTensors:targets() targetOperations:nil] objectForKey:y] retain];
    unfinished = [[queue commandBuffer] retain];
    [unfinished encodeWaitForEvent:event value:1000000000];
  }

  NSDictionary* feeds() const { return [NSDictionary dictionaryWithObject:data forKey:x]; }
  NSArray* targets() const { return [NSArray arrayWithObject:y]; }

  void work() {
    for (int i = 1; !ended; ++i) {
      @autoreleasepool {
        [graph runWithFeeds:feeds() targetTensors:targets() targetOperations:nil];
        [executable specializeWithDevice:nil
                              inputTypes:[NSArray arrayWithObject:type(i % 200 + 1)]
                   compilationDescriptor:nil];
        [event setSignaledValue:static_cast<uint64_t>(i)];
        dispatch_sync(serial, ^{
          dispatch_semaphore_signal(semaphore);
        });
        dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
        id<MTLCommandBuffer> buffer = [queue commandBuffer];
        [buffer commit];
        [buffer waitUntilCompleted];
      }
    }
  }
};

static Busy* g_busy;

// Calls one entry; it returns or raises. What hangs is ended by the alarm.
template <class F>
static void enter(F entry) {
  @autoreleasepool {
    @try {
      entry();
    } @catch (NSException* exception) {
      if ([[exception reason] rangeOfString:@"forked"].location == NSNotFound) _exit(3);
    }
  }
}

static void run_and_compile() {
  Busy& b = *g_busy;
  NSArray* inputs = [NSArray arrayWithObject:b.data];
  NSDictionary* typed = [NSDictionary dictionaryWithObject:Busy::type(7) forKey:b.x];
  enter([&] { [b.graph runWithFeeds:b.feeds() targetTensors:b.targets() targetOperations:nil]; });
  enter([&] {
    [b.graph runAsyncWithFeeds:b.feeds() targetTensors:b.targets() targetOperations:nil executionDescriptor:nil];
  });
  enter([&] {
    MPSCommandBuffer* buffer = [MPSCommandBuffer commandBufferFromCommandQueue:b.queue];
    [b.graph encodeToCommandBuffer:buffer
                             feeds:b.feeds()
                     targetTensors:b.targets()
                  targetOperations:nil
               executionDescriptor:nil];
    [buffer commit];
    [buffer waitUntilCompleted];
  });
  enter([&] {
    [b.graph compileWithDevice:nil
                         feeds:typed
                 targetTensors:b.targets()
              targetOperations:nil
         compilationDescriptor:nil];
  });
  enter([&] {
    [b.executable runWithMTLCommandQueue:b.queue inputsArray:inputs resultsArray:nil executionDescriptor:nil];
  });
  enter([&] {
    [b.executable runAsyncWithMTLCommandQueue:b.queue inputsArray:inputs resultsArray:nil executionDescriptor:nil];
  });
  enter([&] {
    MPSCommandBuffer* buffer = [MPSCommandBuffer commandBufferFromCommandQueue:b.queue];
    [b.executable encodeToCommandBuffer:buffer inputsArray:inputs resultsArray:nil executionDescriptor:nil];
  });
  enter([&] {
    [b.executable specializeWithDevice:nil
                            inputTypes:[NSArray arrayWithObject:Busy::type(9)]
                 compilationDescriptor:nil];
  });
  enter([&] {
    [b.executable getOutputTypesWithDevice:nil
                                inputTypes:[NSArray arrayWithObject:Busy::type(256)]
                     compilationDescriptor:nil];
  });
  for (NSString *name in [NSArray arrayWithObjects:@"alloyMemoryPlan", @"alloyProfile", nil]) {
    enter([&] { [b.executable performSelector:NSSelectorFromString(name)]; });
  }
  enter([&] { [(id)b.device performSelector:NSSelectorFromString(@"alloyThreads")]; });
}

static void use_memory_and_a_graph_of_its_own() {
  Busy& b = *g_busy;
  // What is in memory can be read and written.
  std::vector<float> values(256 * 64);
  bool is_read = false;
  enter([&] {
    [[b.result mpsndarray] readBytes:values.data() strideBytes:nil];
    [[b.data mpsndarray] writeBytes:values.data() strideBytes:nil];
    is_read = true;
  });
  if (!is_read) _exit(4);
  // A graph of the child's own can be built.
  bool is_built = false;
  enter([&] {
    MPSGraph* graph = [[MPSGraph new] autorelease];
    MPSGraphTensor* x = [graph placeholderWithShape:Busy::shape(256) name:nil];
    MPSGraphTensor* y = [graph additionWithPrimaryTensor:x secondaryTensor:x name:nil];
    is_built = [[y shape] count] == 2;
    [graph runWithFeeds:[NSDictionary dictionaryWithObject:b.data forKey:x]
           targetTensors:[NSArray arrayWithObject:y]
        targetOperations:nil];
  });
  if (!is_built) _exit(5);
}

static void use_events_and_command_buffers() {
  Busy& b = *g_busy;
  enter([&] { (void)[b.event signaledValue]; });
  enter([&] { [b.event setSignaledValue:5]; });
#ifndef __APPLE__  // older SDKs lack it
  enter([&] { [b.event waitUntilSignaledValue:1000000001 timeoutMS:60000]; });
#endif
  enter([&] {
    [b.event notifyListener:[[MTLSharedEventListener new] autorelease]
                    atValue:1
                      block:^(id<MTLSharedEvent>, uint64_t){
                      }];
  });
  enter([&] { (void)[b.unfinished status]; });
  enter([&] { (void)[b.unfinished error]; });
  enter([&] {
    [b.unfinished addCompletedHandler:^(id<MTLCommandBuffer>){
    }];
  });
  enter([&] { [b.unfinished commit]; });
  enter([&] { [b.unfinished waitUntilScheduled]; });
  enter([&] { [b.unfinished waitUntilCompleted]; });
  enter([&] { [b.unfinished release]; });
}

static void use_dispatch() {
  Busy& b = *g_busy;
  enter([&] {
    dispatch_sync(b.serial, ^{
                  });
  });
  enter([&] {
    dispatch_async(b.serial, ^{
                   });
  });
  enter([&] {
    dispatch_async(dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
                   });
  });
  enter([&] { dispatch_semaphore_wait(b.semaphore, DISPATCH_TIME_FOREVER); });
  enter([&] { dispatch_semaphore_signal(b.semaphore); });
  static dispatch_once_t once;
  int calls = 0;
  int* counted = &calls;
  enter([&] {
    dispatch_once(&once, ^{
      ++*counted;
    });
  });
  if (calls != 1) _exit(6);
}

static void use_every_entry() {
  run_and_compile();
  use_memory_and_a_graph_of_its_own();
  use_events_and_command_buffers();
  use_dispatch();
}

// A process may fork at any moment, while another of its threads holds any lock.
TEST(children_of_a_busy_process_do_not_hang) {
  g_busy = new Busy;
  std::thread worker([] { g_busy->work(); });
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<int>(0, 20000)(random)));
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      use_every_entry();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      std::fprintf(stderr, "  fork %d: status 0x%x\n", i, static_cast<unsigned>(status));
    }
  }
  g_busy->ended = true;
  worker.join();
}

#endif

int main(int count, char** arguments) {
  if ([(NSObject*)the_device() respondsToSelector:NSSelectorFromString(@"alloyCounters")]) {
    return check::run(count, arguments);
  }
  std::puts("skipped: for the portable framework only");
  return 77;
}
