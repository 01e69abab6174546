// Who keeps what alive: graphs, executables, tensor data and blocks go when their last user goes, and not
// before.

#include "control_flow.h"

#include <chrono>
#include <thread>

static NSUInteger g_allocated_at_first;
static std::atomic<int> g_graphs{0}, g_witnesses{0};

// Threads of the framework may let go of a run a moment after it is over.
template <class F>
static bool becomes(F condition) {
  for (int i = 0; i < 20000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

@interface CountedGraph : MPSGraph
@end

@implementation CountedGraph
- (instancetype)init {
  self = [super init];
  if (self != nil) ++g_graphs;
  return self;
}
- (void)dealloc {
  --g_graphs;
  [super dealloc];
}
@end

// Captured by blocks.
@interface Witness : NSObject
- (void)look;
@end

@implementation Witness
- (instancetype)init {
  self = [super init];
  if (self != nil) ++g_witnesses;
  return self;
}
- (void)dealloc {
  --g_witnesses;
  [super dealloc];
}
- (void)look {
}
@end

// A graph with a bit of everything: state, a gradient, a dependency, a conditional.
struct Everything {
  CountedGraph* graph = [[CountedGraph new] autorelease];
  MPSGraphTensor* x = placeholder(graph, {64, 64});
  MPSGraphTensor* w = variable(graph, Array({64, 64}, 0.5));
  MPSGraphTensor* y = nil;
  MPSGraphOperation* step = nil;

  Everything() {
    MPSGraphTensor* product = matmul(graph, x, w);
    MPSGraphTensor* is_there = [graph constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
    auto squashed = [&] { return list([graph tanhWithTensor:product name:nil]); };
    MPSGraphTensor* chosen = first(choose(graph, is_there, squashed, [&] { return list(product); }));
    MPSGraphTensor* loss = total_of(graph, chosen);
    MPSGraphTensor* gradient = gradient_of(graph, loss, w);
    MPSGraphTensor* rate = scalar(graph, 0.01);
    MPSGraphTensor* updated = descended(graph, rate, w, gradient);
    step = assigned(graph, w, updated);
    y = first(after(graph, step, [&] { return list(total_of(graph, read(graph, w))); }));
  }

  NSDictionary* feeds() const { return pair(tensor_data(random_array({64, 64})), x); }
};

TEST(graphs_go_with_their_last_owner) {
  @autoreleasepool {
    const Everything e;
    CHECK(g_graphs == 1);
    [e.graph runWithFeeds:e.feeds() targetTensors:list(e.y) targetOperations:nil];
    for (MPSGraphTensor* tensor in [e.graph placeholderTensors]) CHECK([[tensor operation] graph] == e.graph);
    [[e.step inputTensors] count];
    [[[e.y operation] controlDependencies] count];
  }
  CHECK(g_graphs == 0);
}

TEST(a_graph_may_go_before_its_run_is_over) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block Array result;
  @autoreleasepool {
    const Everything e;
    // The gate holds the run until nobody but the run itself knows the graph.
    id<MTLSharedEvent> gate = [the_device() newSharedEvent];
    @autoreleasepool {
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      MPSGraphTensor* y = e.y;
      [descriptor waitForEvent:gate value:1];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* results, NSError* error) {
        if (error == nil) result = read_array([results objectForKey:y]);
        dispatch_semaphore_signal(done);
      }];
      [e.graph runAsyncWithMTLCommandQueue:the_queue()
                                     feeds:e.feeds()
                             targetTensors:list(y)
                          targetOperations:nil
                       executionDescriptor:descriptor];
    }
    dispatch_async(dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0), ^{
      becomes([] { return g_graphs == 0; });
      [gate setSignaledValue:1];
    });
    [gate release];
  }
  CHECK(wait_for(done));
  CHECK(g_graphs == 0);
  CHECK(result.values.size() == 1 && std::isfinite(result.values.front()));
  dispatch_release(done);
}

TEST(blocks_let_go_after_their_run) {
  @autoreleasepool {
    const Everything e;
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    @autoreleasepool {
      Witness* witness = [[Witness new] autorelease];
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      [descriptor setScheduledHandler:^(MPSGraphTensorDataDictionary*, NSError*) {
        [witness look];
      }];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError*) {
        [witness look];
        dispatch_semaphore_signal(done);
      }];
      [e.graph runAsyncWithMTLCommandQueue:the_queue()
                                     feeds:e.feeds()
                             targetTensors:list(e.y)
                          targetOperations:nil
                       executionDescriptor:descriptor];
      MPSGraphCompilationDescriptor* compilation = [[MPSGraphCompilationDescriptor new] autorelease];
      [compilation setCompilationCompletionHandler:^(MPSGraphExecutable*, NSError*) {
        [witness look];
      }];
      CHECK(g_witnesses == 1);
    }
    CHECK(wait_for(done));
    dispatch_release(done);
  }
  CHECK(becomes([] { return g_witnesses == 0; }));
}

TEST(a_handler_may_run_the_graph) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block int right = 0;
  @autoreleasepool {
    const Everything e;
    CountedGraph* graph = e.graph;
    MPSGraphTensor* y = e.y;
    NSDictionary* feeds = e.feeds();
    MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
    [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* first, NSError*) {
      @autoreleasepool {
        NSDictionary* second = [graph runWithMTLCommandQueue:the_queue()
                                                       feeds:feeds
                                               targetTensors:list(y)
                                            targetOperations:nil];
        right +=
            read_array([second objectForKey:y]).values.front() != read_array([first objectForKey:y]).values.front();
        MPSGraphExecutionDescriptor* next = [[MPSGraphExecutionDescriptor new] autorelease];
        [next setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError* error) {
          right += error == nil;
          dispatch_semaphore_signal(done);
        }];
        [graph runAsyncWithMTLCommandQueue:the_queue()
                                     feeds:feeds
                             targetTensors:list(y)
                          targetOperations:nil
                       executionDescriptor:next];
      }
    }];
    [graph runAsyncWithMTLCommandQueue:the_queue()
                                 feeds:feeds
                         targetTensors:list(y)
                      targetOperations:nil
                   executionDescriptor:descriptor];
    CHECK(wait_for(done));
  }
  CHECK(right == 2);
  dispatch_release(done);
}

#ifndef __APPLE__
// Bytes on the device are counted by the device; a Mac keeps some of its own.
TEST(the_memory_comes_back) {
  const NSUInteger state_bytes = 64 * 64 * sizeof(float);
  auto allocated = [](NSUInteger bytes) {
    return becomes([bytes] { return [the_device() currentAllocatedSize] == bytes; });
  };
  CHECK(allocated(g_allocated_at_first));
  MPSGraphExecutable* executable = nil;
  NSUInteger with_arena = 0;
  @autoreleasepool {
    const Everything e;
    CHECK(allocated(g_allocated_at_first + state_bytes));
    auto run = [&] {
      @autoreleasepool {
        [e.graph runWithFeeds:e.feeds() targetTensors:list(e.y) targetOperations:nil];
      }
    };
    run();
    // What was compiled keeps the memory for its intermediate results, and further runs take no more.
    with_arena = [the_device() currentAllocatedSize];
    CHECK(with_arena >= g_allocated_at_first + state_bytes);
    run(), run();
    CHECK(allocated(with_arena));
    executable = [compiled(e.graph, {e.x}, list(e.y)) retain];
  }
  CHECK(g_graphs == 0);
  // The executable holds the variable, though the graph is gone.
  CHECK([the_device() currentAllocatedSize] >= with_arena);
  @autoreleasepool {
    NSArray* inputs = list(tensor_data(random_array({64, 64})));
    NSArray* first = [executable runWithMTLCommandQueue:the_queue()
                                            inputsArray:inputs
                                           resultsArray:nil
                                    executionDescriptor:nil];
    NSArray* second = [executable runWithMTLCommandQueue:the_queue()
                                             inputsArray:inputs
                                            resultsArray:nil
                                     executionDescriptor:nil];
    CHECK(read_array([first objectAtIndex:0]).values.front() != read_array([second objectAtIndex:0]).values.front());
    [executable release];
  }
  CHECK(allocated(g_allocated_at_first));
}
#endif

TEST(nothing_is_left) { CHECK(g_graphs == 0 && g_witnesses == 0); }

int main(int count, char** arguments) {
  g_allocated_at_first = [the_device() currentAllocatedSize];
  return check::run(count, arguments);
}
