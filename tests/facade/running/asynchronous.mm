// Work in flight: runs encoded to command buffers, two queues ordered by events alone, what handlers are told and when,
// what a failure costs, and steps in flight bounded by a semaphore.
//
// facade_asynchronous 100000 makes so many steps of the last, and prints what a step took and what memory it left;
// ctest makes 3,000.

#include "graph_testing.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

static id<MTLCommandQueue> other_queue() {
  static id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  return queue;
}

static long g_steps = 3000;

static size_t count_of(MPSGraphTensorData* data) { return static_cast<size_t>(element_count(shape_of([data shape]))); }

static void fill(MPSGraphTensorData* data, float value) {
  std::vector<float> values(count_of(data), value);
  [[data mpsndarray] writeBytes:values.data() strideBytes:nil];
}

static std::vector<float> floats_of(MPSGraphTensorData* data) {
  std::vector<float> values(count_of(data));
  [[data mpsndarray] readBytes:values.data() strideBytes:nil];
  return values;
}

static bool holds(MPSGraphTensorData* data, float value) {
  return floats_of(data) == std::vector<float>(count_of(data), value);
}

// ---- two queues ----

// Two graphs, one after the other: x + 1, by way of `depth` products with a matrix that has ones on its diagonal, and
// of that three times less one. All numbers are whole, so that there is one right answer to the bit.
struct Pipeline {
  Shape shape;
  MPSGraph *first = [[MPSGraph new] autorelease], *second = [[MPSGraph new] autorelease];
  MPSGraphTensor *x, *y, *fed, *z;
  MPSGraphExecutable *computes, *follows;

  Pipeline(long n, int depth) : shape({n, n}) {
    Array unit(shape);
    for (long i = 0; i < n; ++i) unit.at({i, i}) = 1;
    MPSGraphTensor* diagonal = variable(first, unit);
    x = y = placeholder(first, shape);
    for (int i = 0; i < depth; ++i) {
      y = matmul(first, y, diagonal);
    }
    y = plus(first, y, constant(first, Array({1}, 1.0)));
    fed = placeholder(second, shape);
    z = times(second, fed, constant(second, Array({1}, 3.0)));
    z = minus(second, z, constant(second, Array({1}, 1.0)));
    computes = compiled(first, {x}, list(y));
    follows = compiled(second, {fed}, list(z));
  }

  static float answer(float value) { return 3 * (value + 1) - 1; }
};

// As Apple's examples have it: what the first run gives at once, before it is computed, is fed to the second.
static int right_of_graphs(const Pipeline& p, int rounds) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  int right = 0;
  for (int i = 1; i <= rounds; ++i) {
    @autoreleasepool {
      const auto value = static_cast<float>(i);
      MPSGraphExecutionDescriptor* produces = [[MPSGraphExecutionDescriptor new] autorelease];
      [produces signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:static_cast<uint64_t>(i)];
      MPSGraphExecutionDescriptor* consumes = [[MPSGraphExecutionDescriptor new] autorelease];
      [consumes waitForEvent:event value:static_cast<uint64_t>(i)];
      [consumes setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError*) {
        dispatch_semaphore_signal(done);
      }];
      NSDictionary* made = [p.first runAsyncWithMTLCommandQueue:the_queue()
                                                          feeds:pair(tensor_data(Array(p.shape, i)), p.x)
                                                  targetTensors:list(p.y)
                                               targetOperations:nil
                                            executionDescriptor:produces];
      NSDictionary* used = [p.second runAsyncWithMTLCommandQueue:other_queue()
                                                           feeds:pair([made objectForKey:p.y], p.fed)
                                                   targetTensors:list(p.z)
                                                targetOperations:nil
                                             executionDescriptor:consumes];
      if (!wait_for(done)) break;
      right += holds([used objectForKey:p.z], Pipeline::answer(value));
    }
  }
  dispatch_release(done);
  return right;
}

// With executables, over the same memory every time: what waits is committed before what it waits for, or behind it.
static int right_of_executables(const Pipeline& p, int rounds, bool waiter_first) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  MPSGraphTensorData *x = tensor_data(Array(p.shape)), *y = tensor_data(Array(p.shape)),
                     *z = tensor_data(Array(p.shape));
  int right = 0;
  for (int i = 1; i <= rounds; ++i) {
    @autoreleasepool {
      const auto value = static_cast<float>(i);
      MPSGraphExecutableExecutionDescriptor *produces = [[MPSGraphExecutableExecutionDescriptor new] autorelease],
                                            *consumes = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
      [produces signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:static_cast<uint64_t>(i)];
      [consumes waitForEvent:event value:static_cast<uint64_t>(i)];
      [consumes setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
        dispatch_semaphore_signal(done);
      }];
      fill(x, value);
      for (const bool waiter : {waiter_first, !waiter_first}) {
        [waiter ? p.follows : p.computes runAsyncWithMTLCommandQueue:waiter ? other_queue() : the_queue()
                                                         inputsArray:list(waiter ? y : x)
                                                        resultsArray:list(waiter ? z : y)
                                                 executionDescriptor:waiter ? consumes : produces];
      }
      if (!wait_for(done)) break;
      right += holds(z, Pipeline::answer(value));
    }
  }
  dispatch_release(done);
  return right;
}

TEST(two_queues) {
  constexpr int kRounds = 1000;
  // The slow one takes many times as long as committing a run.
  const Pipeline quick(8, 1), slow(96, 8);
  for (const Pipeline* p : {&quick, &slow}) {
    CHECK(right_of_graphs(*p, kRounds) == kRounds);
    for (const bool waiter_first : {false, true}) CHECK(right_of_executables(*p, kRounds, waiter_first) == kRounds);
  }
}

// Both directions in one command buffer each, and an event that nobody but the runs keeps.
TEST(queues_that_wait_for_each_other_in_turn) {
  const Pipeline p(8, 1);
  MPSGraphTensorData *x = tensor_data(Array(p.shape, 5.0)), *y = tensor_data(Array(p.shape)),
                     *z = tensor_data(Array(p.shape)), *last = tensor_data(Array(p.shape));
  id<MTLCommandBuffer> there = nil, here = nil;
  @autoreleasepool {
    id<MTLSharedEvent> event = [the_device() newSharedEvent];
    MPSCommandBuffer *a = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()],
                     *b = [MPSCommandBuffer commandBufferFromCommandQueue:other_queue()];
    MPSGraphExecutableExecutionDescriptor* descriptors[3];
    for (int i = 0; i < 3; ++i) {
      *(descriptors + i) = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
      if (i > 0) [*(descriptors + i) waitForEvent:event value:static_cast<uint64_t>(i)];
      [*(descriptors + i) signalEvent:event
                     atExecutionEvent:MPSGraphExecutionStageCompleted
                                value:static_cast<uint64_t>(i + 1)];
    }
    auto encode = [](MPSGraphExecutable* executable, MPSCommandBuffer* buffer, MPSGraphTensorData* from,
                     MPSGraphTensorData* to, MPSGraphExecutableExecutionDescriptor* descriptor) {
      [executable encodeToCommandBuffer:buffer
                            inputsArray:list(from)
                           resultsArray:list(to)
                    executionDescriptor:descriptor];
    };
    encode(p.computes, a, x, y, *descriptors);
    encode(p.follows, b, y, z, *(descriptors + 1));
    encode(p.computes, a, z, last, *(descriptors + 2));
    [event release];
    there = [[b rootCommandBuffer] retain];
    here = [[a rootCommandBuffer] retain];
    [b commit];
    [a commit];
  }
  [here waitUntilCompleted];
  [there waitUntilCompleted];
  CHECK([here status] == MTLCommandBufferStatusCompleted && [there status] == MTLCommandBufferStatusCompleted);
  CHECK(holds(last, Pipeline::answer(5) + 1));
  [here release];
  [there release];
}

// A buffer of one queue waits for an event that a buffer of another one signals behind a slow run.
TEST(a_buffer_waits_for_a_slow_run_of_another_queue) {
  const Pipeline p(96, 8);
  MPSGraphTensorData *x = tensor_data(Array(p.shape)), *y = tensor_data(Array(p.shape)),
                     *z = tensor_data(Array(p.shape));
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  for (int i = 1; i <= 50; ++i) {
    @autoreleasepool {
      fill(x, static_cast<float>(i));
      MPSCommandBuffer *computes = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()],
                       *follows = [MPSCommandBuffer commandBufferFromCommandQueue:other_queue()];
      [p.computes encodeToCommandBuffer:computes inputsArray:list(x) resultsArray:list(y) executionDescriptor:nil];
      [computes encodeSignalEvent:event value:static_cast<uint64_t>(i)];
      [follows encodeWaitForEvent:event value:static_cast<uint64_t>(i)];
      [p.follows encodeToCommandBuffer:follows inputsArray:list(y) resultsArray:list(z) executionDescriptor:nil];
      [computes commit];
      [follows commit];
      [follows waitUntilCompleted];
      CHECK(holds(z, Pipeline::answer(static_cast<float>(i))));
    }
  }
}

// A view that does not lie as graphs want it is copied, once the run before has written its array.
TEST(a_run_reads_a_view_of_what_the_run_before_it_writes) {
  const Pipeline p(96, 8);
  MPSGraphTensorData *x = tensor_data(Array(p.shape)), *y = tensor_data(Array(p.shape)),
                     *z = tensor_data(Array(p.shape));
  MPSNDArray* array = [y mpsndarray];
  MPSNDArrayDescriptor* turned = [array descriptor];
  [turned transposeDimension:0 withDimension:1];
  for (int i = 1; i <= 50; ++i) {
    @autoreleasepool {
      fill(x, static_cast<float>(i));
      MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
      MPSNDArray* view = [array arrayViewWithCommandBuffer:commands
                                                descriptor:turned
                                                  aliasing:MPSAliasingStrategyShallAlias];
      MPSGraphTensorData* read = [[[MPSGraphTensorData alloc] initWithMPSNDArray:view] autorelease];
      [p.computes encodeToCommandBuffer:commands inputsArray:list(x) resultsArray:list(y) executionDescriptor:nil];
      [p.follows encodeToCommandBuffer:commands inputsArray:list(read) resultsArray:list(z) executionDescriptor:nil];
      [commands commit];
      [commands waitUntilCompleted];
      CHECK(holds(z, Pipeline::answer(static_cast<float>(i))));
    }
  }
}

// ---- command buffers ----

// A graph whose results tell in which order its runs came: y = x - s, which s becomes.
struct Ordered {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {1}), *s = variable(graph, Array({1}));
  MPSGraphTensor* y = minus(graph, x, s);
  MPSGraphOperation* step = assigned(graph, s, y);
};

// Every way to encode, with commits in the midst. Handlers stay with the command buffer that their run is in.
TEST(encodes_with_commits_between) {
  const Ordered o;
  MPSGraphExecutable* executable = compiled(o.graph, {o.x}, list(o.y), list(o.step));
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  NSMutableArray* results = [NSMutableArray array];
  __block int calls = 0, wrong = 0;
  for (int i = 0; i < 24; ++i) {
    MPSGraphTensorData *fed = tensor_data(Array({1}, i * i)), *mine = tensor_data(Array({1}, -77.0));
    MPSGraphTensor* y = o.y;
    if (i % 4 < 2) {
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* given, NSError* error) {
        wrong += error != nil || calls++ != i || [given objectForKey:y] != [results objectAtIndex:NSUInteger(i)];
      }];
      if (i % 4 == 0) {
        mine = [[o.graph encodeToCommandBuffer:commands
                                         feeds:pair(fed, o.x)
                                 targetTensors:list(y)
                              targetOperations:list(o.step)
                           executionDescriptor:descriptor] objectForKey:y];
      } else {
        [o.graph encodeToCommandBuffer:commands
                                 feeds:pair(fed, o.x)
                      targetOperations:list(o.step)
                     resultsDictionary:pair(mine, y)
                   executionDescriptor:descriptor];
      }
    } else {
      MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
      [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>* given, NSError* error) {
        wrong += error != nil || calls++ != i || [given objectAtIndex:0] != [results objectAtIndex:NSUInteger(i)];
      }];
      NSArray* given = [executable encodeToCommandBuffer:commands
                                             inputsArray:list(fed)
                                            resultsArray:i % 4 == 2 ? nil : list(mine)
                                     executionDescriptor:descriptor];
      CHECK(i % 4 == 2 || [given objectAtIndex:0] == mine);
      mine = [given objectAtIndex:0];
    }
    [results addObject:mine];
    if (i % 5 != 4) continue;
    id<MTLCommandBuffer> before = [commands rootCommandBuffer];
    [commands commitAndContinue];
    CHECK([commands rootCommandBuffer] != before && [before status] >= MTLCommandBufferStatusCommitted);
  }
  [commands commit];
  [commands waitUntilCompleted];
  double expected = 0;
  for (int i = 0; i < 24; ++i) {
    expected = i * i - expected;
    CHECK(holds([results objectAtIndex:NSUInteger(i)], static_cast<float>(expected)));
  }
  CHECK(calls == 24 && wrong == 0);
}

// A wrapper may lie around another one, and around a plain command buffer that holds other work, too.
TEST(encodes_into_wrapped_buffers) {
  const Ordered o;
  id<MTLCommandBuffer> plain = [the_queue() commandBuffer];
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  MPSCommandBuffer* outer =
      [MPSCommandBuffer commandBufferWithCommandBuffer:[MPSCommandBuffer commandBufferWithCommandBuffer:plain]];
  auto encode = [&](double value) {
    return [[o.graph encodeToCommandBuffer:outer
                                     feeds:pair(tensor_data(Array({1}, value)), o.x)
                             targetTensors:list(o.y)
                          targetOperations:list(o.step)
                       executionDescriptor:nil] objectForKey:o.y];
  };
  MPSGraphTensorData* first = encode(7);
  [plain encodeSignalEvent:event value:1];
  [outer commitAndContinue];
  MPSGraphTensorData* second = encode(10);
  [outer encodeSignalEvent:event value:2];
  [plain waitUntilCompleted];
  CHECK([plain status] == MTLCommandBufferStatusCompleted && [event signaledValue] == 1);
  CHECK(holds(first, 7));
  [outer commit];
  [outer waitUntilCompleted];
  CHECK(holds(second, 3) && [event signaledValue] == 2);
#ifndef __APPLE__  // on a Mac this ends the process
  CHECK_RAISES(encode(1));
  CHECK_RAISES([outer commitAndContinue]);
#endif
}

// One command buffer a queue, several queues, one graph: runs of a graph come one at a time, in any order.
TEST(several_queues_share_a_graph) {
  constexpr int kQueues = 4, kRuns = 50;
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(g, {1}), *total = variable(g, Array({1}));
  MPSGraphTensor* sum = plus(g, total, x);
  MPSGraphExecutable* adds = compiled(g, {x}, list(sum), list(assigned(g, total, sum)));
  NSMutableArray* last = [NSMutableArray array];
  for (int q = 0; q < kQueues; ++q) {
    id<MTLCommandQueue> queue = [[the_device() newCommandQueue] autorelease];
    for (int i = 0; i < kRuns; ++i) {
      MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
      [adds encodeToCommandBuffer:commands
                      inputsArray:list(tensor_data(Array({1}, q + 1)))
                     resultsArray:nil
              executionDescriptor:nil];
      [commands commit];
      if (i == kRuns - 1) [last addObject:commands];
    }
  }
  for (MPSCommandBuffer* commands in last) [commands waitUntilCompleted];
  NSDictionary* found = [g runWithMTLCommandQueue:the_queue()
                                            feeds:[NSDictionary dictionary]
                                    targetTensors:list(total)
                                 targetOperations:nil];
  CHECK(holds([found objectForKey:total], kRuns * (1 + 2 + 3 + 4)));
}

// ---- handlers ----

// While a handler waits, everything that it could hold a lock of can be used.
TEST(handlers_hold_no_lock) {
  const Ordered o;
  MPSGraphExecutable* executable = compiled(o.graph, {o.x}, list(o.y), list(o.step));
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  dispatch_semaphore_t inside = dispatch_semaphore_create(0), leave = dispatch_semaphore_create(0),
                       done = dispatch_semaphore_create(0);
  __block int scheduled = 0, completed = 0;
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:1];
  [descriptor setScheduledHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
    ++scheduled;
    dispatch_semaphore_signal(inside);
    wait_for(leave);
  }];
  [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>* results, NSError* error) {
    completed += error == nil && holds([results objectAtIndex:0], 9);
    dispatch_semaphore_signal(inside);
    wait_for(leave);
    dispatch_semaphore_signal(done);
  }];
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  [executable encodeToCommandBuffer:commands
                        inputsArray:list(tensor_data(Array({1}, 9.0)))
                       resultsArray:nil
                executionDescriptor:descriptor];
  [commands commit];
  for (int handler = 0; handler < 2; ++handler) {
    CHECK(wait_for(inside));
    NSDictionary* feeds = pair(tensor_data(Array({1}, 1.0)), o.x);
    for (id<MTLCommandQueue> queue : {the_queue(), other_queue()}) {
      [o.graph runWithMTLCommandQueue:queue feeds:feeds targetTensors:list(o.y) targetOperations:nil];
    }
    compiled(o.graph, {o.x}, list([o.graph squareWithTensor:o.y name:nil]));
    [executable runWithMTLCommandQueue:other_queue()
                           inputsArray:list(tensor_data(Array({1}, 0.0)))
                          resultsArray:nil
                   executionDescriptor:nil];
    CHECK([commands status] >= MTLCommandBufferStatusScheduled && [event signaledValue] == 1);
    [descriptor waitForEvent:event value:0];
    dispatch_semaphore_signal(leave);
  }
  CHECK(wait_for(done));
  CHECK(scheduled == 1 && completed == 1);
  for (dispatch_semaphore_t semaphore : {inside, leave, done}) dispatch_release(semaphore);
}

// ---- failures ----

#if defined(__linux__) && !__has_feature(address_sanitizer)
// A run that needs a gibibyte, where there is none.
struct Greedy {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {16384, 1}), *y = nil;
  NSDictionary* feeds = pair(tensor_data(Array({16384, 1}, 1.0)), x);

  Greedy() {
    MPSGraphTensor* turned = [graph transposeTensor:x dimension:0 withDimension:1 name:nil];
    MPSGraphTensor* product = matmul(graph, x, turned);
    MPSGraphTensor* sorted = [graph sortWithTensor:product axis:1 name:nil];
    y = total_of(graph, sorted);
  }
};

// Memory that the process may take from now on, for as long as this lives.
class LittleMemory {
 public:
  LittleMemory() {
    getrlimit(RLIMIT_AS, &before_);
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CHECK(file != nullptr && std::fscanf(file, "%lu", &pages) == 1);
    std::fclose(file);
    const rlimit less{pages * 4096 + (512ul << 20), before_.rlim_max};
    setrlimit(RLIMIT_AS, &less);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_;
};

static NSException* raised(void (^work)()) {
  @try {
    work();
  } @catch (NSException* exception) {
    return exception;
  }
  return nil;
}

TEST(a_failure_is_told_once) {
  const Greedy greedy;
  const Ordered o;
  const LittleMemory little;
  static int calls = 0, told = 0;
  MPSGraphTensor* y = greedy.y;
  auto run = [&](bool waits, bool handles) {
    MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
    [descriptor setWaitUntilCompleted:waits];
    if (handles) {
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* results, NSError* error) {
        ++calls;
        told += [results objectForKey:y] != nil && [[error domain] isEqualToString:MTLCommandBufferErrorDomain] &&
                [error code] == MTLCommandBufferErrorOutOfMemory && [[error localizedDescription] length] > 0;
      }];
    }
    [greedy.graph runAsyncWithMTLCommandQueue:the_queue()
                                        feeds:greedy.feeds
                                targetTensors:list(y)
                             targetOperations:nil
                          executionDescriptor:descriptor];
  };
  // A handler is told; where there is none, whoever waits is.
  run(true, true);
  CHECK(calls == 1 && told == 1);
  CHECK(raised(^{
          run(true, false);
        }) != nil);
  CHECK(raised(^{
          [greedy.graph runWithMTLCommandQueue:the_queue()
                                         feeds:greedy.feeds
                                 targetTensors:list(y)
                              targetOperations:nil];
        }) != nil);
  run(false, false);
  run(false, true);
  // The queue goes on.
  NSDictionary* after = [o.graph runWithMTLCommandQueue:the_queue()
                                                  feeds:pair(tensor_data(Array({1}, 4.0)), o.x)
                                          targetTensors:list(o.y)
                                       targetOperations:nil];
  CHECK(holds([after objectForKey:o.y], 4));
  id<MTLCommandBuffer> last = [the_queue() commandBuffer];
  [last addCompletedHandler:^(id<MTLCommandBuffer>){
  }];
  [last commit];
  [last waitUntilCompleted];  // behind the other handlers
  CHECK(calls == 2 && told == 2);
}

TEST(a_failure_of_an_executable_is_told_once) {
  const Greedy greedy;
  MPSGraphExecutable* executable = compiled(greedy.graph, {greedy.x}, list(greedy.y));
  NSArray* inputs = list([greedy.feeds objectForKey:greedy.x]);
  const LittleMemory little;
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block int scheduled = 0, calls = 0, told = 0;
  for (const bool handles : {true, false}) {
    MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
    [descriptor setScheduledHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
      ++scheduled;
      dispatch_semaphore_signal(done);
    }];
    if (handles) {
      [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>* results, NSError* error) {
        ++calls;
        told += [results count] == 1 && error != nil;
        dispatch_semaphore_signal(done);
      }];
    }
    for (const bool waits : {false, true}) {
      [descriptor setWaitUntilCompleted:waits];
      NSException* failure = raised(^{
        if (waits) {
          [executable runAsyncWithMTLCommandQueue:the_queue()
                                      inputsArray:inputs
                                     resultsArray:nil
                              executionDescriptor:descriptor];
        } else {
          [executable runWithMTLCommandQueue:the_queue()
                                 inputsArray:inputs
                                resultsArray:nil
                         executionDescriptor:descriptor];
        }
      });
      CHECK((failure == nil) == handles);
      for (int i = 0; i < (handles ? 2 : 1); ++i) CHECK(wait_for(done));
    }
  }
  CHECK(scheduled == 4 && calls == 2 && told == 2);
  dispatch_release(done);
}

// What a failed command buffer would have signalled is signalled: other queues go on.
TEST(a_failure_holds_up_nobody) {
  const Greedy greedy;
  const Ordered o;
  const LittleMemory little;
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  static int failures = 0;
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  auto encode = [&](MPSGraph* graph, NSDictionary* feeds, MPSGraphTensor* target, MPSGraphOperation* step,
                    uint64_t value) {
    MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
    [descriptor signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:value];
    [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError* error) {
      failures += error != nil;
    }];
    [graph encodeToCommandBuffer:commands
                           feeds:feeds
                   targetTensors:list(target)
                targetOperations:step == nil ? nil : list(step)
             executionDescriptor:descriptor];
  };
  encode(greedy.graph, greedy.feeds, greedy.y, nil, 1);
  encode(o.graph, pair(tensor_data(Array({1}, 4.0)), o.x), o.y, o.step, 2);
  [commands encodeSignalEvent:event value:3];
  id<MTLCommandBuffer> waits = [other_queue() commandBuffer];
  for (uint64_t value = 1; value <= 3; ++value) [waits encodeWaitForEvent:event value:value];
  [waits commit];
  [commands commit];
  [waits waitUntilCompleted];
  [commands waitUntilCompleted];
  CHECK([waits status] == MTLCommandBufferStatusCompleted && [commands status] == MTLCommandBufferStatusError);
  CHECK([commands error] != nil && failures == 2 && [event signaledValue] == 3);
  // The second run was skipped: it has assigned nothing.
  NSDictionary* found = [o.graph runWithMTLCommandQueue:the_queue()
                                                  feeds:[NSDictionary dictionary]
                                          targetTensors:list(o.s)
                                       targetOperations:nil];
  CHECK(holds([found objectForKey:o.s], 0));
}
#endif

// ---- steps in flight ----

// A training whose loss depends on every step before.
struct Training {
  static constexpr long kRows = 8, kInputs = 16;
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(graph, {kRows, kInputs});
  MPSGraphTensor* loss = nil;
  MPSGraphExecutable* executable = nil;

  Training() {
    Array first({kInputs, 4});
    for (size_t i = 0; i < first.values.size(); ++i) first.values.at(i) = 0.01 * static_cast<double>(i % 7) - 0.02;
    MPSGraphTensor* w = variable(graph, first);
    MPSGraphTensor* product = matmul(graph, x, w);
    MPSGraphTensor* error = minus(graph, [graph tanhWithTensor:product name:nil], constant(graph, Array({1}, 0.3)));
    loss = total_of(graph, [graph squareWithTensor:error name:nil]);
    MPSGraphTensor* gradient = gradient_of(graph, loss, w);
    MPSGraphTensor* rate = scalar(graph, 0.05);
    MPSGraphTensor* updated = descended(graph, rate, w, gradient);
    executable = compiled(graph, {x}, list(loss), list(assigned(graph, w, updated)));
  }

  static MPSGraphTensorData* memory(bool of_results) {
    return tensor_data(of_results ? Array(Shape{}) : Array({kRows, kInputs}));
  }
  // The batch of a step, into memory that no step reads.
  static void load(MPSGraphTensorData* data, long step) {
    float values[kRows * kInputs];
    auto state = static_cast<uint32_t>(step * 2654435761l + 1);
    for (float& v : values) {
      state = state * 1664525u + 1013904223u;
      v = static_cast<float>(state >> 8) / 8388608.0f - 1;
    }
    [[data mpsndarray] writeBytes:values strideBytes:nil];
  }
};

static std::vector<float> losses_one_by_one(long steps) {
  const Training training;
  std::vector<float> losses;
  MPSGraphTensorData *input = Training::memory(false), *result = Training::memory(true);
  for (long i = 0; i < steps; ++i) {
    @autoreleasepool {
      Training::load(input, i);
      [training.executable runWithMTLCommandQueue:the_queue()
                                      inputsArray:list(input)
                                     resultsArray:list(result)
                              executionDescriptor:nil];
      losses.push_back(floats_of(result).front());
    }
  }
  return losses;
}

// Two steps in flight, each over memory of its own, as Apple's example of double buffering has it.
struct DoubleBuffered {
  static constexpr int kInFlight = 2;
  const Training training;
  dispatch_semaphore_t slots = dispatch_semaphore_create(kInFlight);
  MPSGraphTensorData *inputs[kInFlight], *results[kInFlight];
  std::vector<float> losses;
  std::vector<int> calls;
  long failures = 0, out_of_order = 0, handled = 0;

  explicit DoubleBuffered(long steps) : losses(static_cast<size_t>(steps)), calls(static_cast<size_t>(steps)) {
    for (int i = 0; i < kInFlight; ++i) {
      *(inputs + i) = Training::memory(false);
      *(results + i) = Training::memory(true);
    }
  }
  DoubleBuffered(const DoubleBuffered&) = delete;
  DoubleBuffered& operator=(const DoubleBuffered&) = delete;
  ~DoubleBuffered() { dispatch_release(slots); }

  void over(long step, NSArray* given, NSError* error) {
    failures += error != nil;
    out_of_order += handled++ != step;
    ++calls.at(static_cast<size_t>(step));
    losses.at(static_cast<size_t>(step)) = floats_of([given objectAtIndex:0]).front();
    dispatch_semaphore_signal(slots);
  }

  // The steps [from, to), and waits for their ends.
  bool run(long from, long to) {
    DoubleBuffered* self = this;
    for (long step = from; step < to; ++step) {
      @autoreleasepool {
        if (!wait_for(slots)) return false;
        const long slot = step % kInFlight;
        Training::load(*(inputs + slot), step);
        MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
        [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>* given, NSError* error) {
          self->over(step, given, error);
        }];
        [training.executable runAsyncWithMTLCommandQueue:the_queue()
                                             inputsArray:list(*(inputs + slot))
                                            resultsArray:list(*(results + slot))
                                     executionDescriptor:descriptor];
      }
    }
    for (int i = 0; i < kInFlight; ++i) {
      if (!wait_for(slots)) return false;
    }
    for (int i = 0; i < kInFlight; ++i) dispatch_semaphore_signal(slots);
    return true;
  }
};

// What the process holds, in bytes; 0 where nobody says.
static long resident_bytes() {
  long pages = 0;
#ifdef __linux__
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  std::fclose(file);
#endif
  return pages * 4096;
}

TEST(steps_bounded_by_a_semaphore) {
  const long steps = g_steps;
  const std::vector<float> expected = losses_one_by_one(steps);
  DoubleBuffered flying(steps);
  CHECK(flying.run(0, steps / 4));
  const long before = resident_bytes();
  [[maybe_unused]] const NSUInteger allocated = [the_device() currentAllocatedSize];
  const auto start = std::chrono::steady_clock::now();
  CHECK(flying.run(steps / 4, steps));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const long grown = resident_bytes() - before;
  CHECK(std::memcmp(expected.data(), flying.losses.data(), sizeof(float) * expected.size()) == 0);
  CHECK(expected.front() != expected.back() && std::isfinite(expected.back()));
  CHECK(flying.failures == 0 && flying.out_of_order == 0 && flying.handled == steps);
  CHECK(flying.calls == std::vector<int>(static_cast<size_t>(steps), 1));
#ifndef __APPLE__
  CHECK([the_device() currentAllocatedSize] == allocated);
#endif
#if !__has_feature(address_sanitizer)  // which keeps what is freed for a while
  CHECK(grown < (1 << 20));
#endif
  std::printf("%ld steps with two in flight: %.1f us each, %ld bytes more in memory than after a quarter\n", steps,
              1e6 * taken.count() / (0.75 * static_cast<double>(steps)), grown);
}

int main(int count, char** arguments) {
  const bool is_number = count == 2 && std::atol(arguments[1]) > 0;
  if (is_number) g_steps = std::atol(arguments[1]);
  return check::run(is_number ? 1 : count, arguments);
}
