// Who keeps what alive: graphs, executables, tensor data and blocks go when their last user goes, and not
// before.

#include "graph_testing.h"

#include <chrono>
#include <thread>

static id<MTLDevice> g_device;
static id<MTLCommandQueue> g_queue;
static NSUInteger g_allocated_at_first;
static std::atomic<int> g_graphs{0}, g_witnesses{0};

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }
static NSDictionary* pair(id object, id key) { return [NSDictionary dictionaryWithObject:object forKey:key]; }

static bool wait_for(dispatch_semaphore_t semaphore) {
  return dispatch_semaphore_wait(semaphore, dispatch_time(DISPATCH_TIME_NOW, 60 * (int64_t)NSEC_PER_SEC)) == 0;
}

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
    MPSGraphTensor* product = [graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:w name:nil];
    MPSGraphTensor* is_there = [graph constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
    MPSGraph* g = graph;
    MPSGraphTensor* chosen = [[graph ifWithPredicateTensor:is_there
        thenBlock:^{
          return list([g tanhWithTensor:product name:nil]);
        }
        elseBlock:^{
          return list(product);
        }
        name:nil] objectAtIndex:0];
    MPSGraphTensor* loss = [graph reductionSumWithTensor:chosen axes:nil name:nil];
    MPSGraphTensor* gradient = [[graph gradientForPrimaryTensor:loss withTensors:list(w) name:nil] objectForKey:w];
    MPSGraphTensor* rate = [graph constantWithScalar:0.01 dataType:MPSDataTypeFloat32];
    MPSGraphTensor* updated = [graph stochasticGradientDescentWithLearningRateTensor:rate
                                                                        valuesTensor:w
                                                                      gradientTensor:gradient
                                                                                name:nil];
    step = [graph assignVariable:w withValueOfTensor:updated name:nil];
    y = [[graph controlDependencyWithOperations:list(step)
                                 dependentBlock:^{
                                   return list([g reductionSumWithTensor:[g readVariable:w name:nil]
                                                                    axes:nil
                                                                    name:nil]);
                                 }
                                           name:nil] objectAtIndex:0];
  }

  NSDictionary* feeds() const { return pair(tensor_data(random_array({64, 64})), x); }
  MPSGraphExecutable* compiled() const {
    MPSGraphShapedType* type = [[[MPSGraphShapedType alloc] initWithShape:numbers({64, 64})
                                                                 dataType:MPSDataTypeFloat32] autorelease];
    return [graph compileWithDevice:nil
                              feeds:pair(type, x)
                      targetTensors:list(y)
                   targetOperations:nil
              compilationDescriptor:nil];
  }
};

static void graphs_go_with_their_last_owner() {
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

static void a_graph_may_go_before_its_run_is_over() {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block Array result;
  @autoreleasepool {
    const Everything e;
    // The gate holds the run until nobody but the run itself knows the graph.
    id<MTLSharedEvent> gate = [g_device newSharedEvent];
    @autoreleasepool {
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      MPSGraphTensor* y = e.y;
      [descriptor waitForEvent:gate value:1];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* results, NSError* error) {
        if (error == nil) result = read_array([results objectForKey:y]);
        dispatch_semaphore_signal(done);
      }];
      [e.graph runAsyncWithMTLCommandQueue:g_queue
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

static void blocks_let_go_after_their_run() {
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
      [e.graph runAsyncWithMTLCommandQueue:g_queue
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

static void a_handler_may_run_the_graph() {
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
        NSDictionary* second = [graph runWithMTLCommandQueue:g_queue
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
        [graph runAsyncWithMTLCommandQueue:g_queue
                                     feeds:feeds
                             targetTensors:list(y)
                          targetOperations:nil
                       executionDescriptor:next];
      }
    }];
    [graph runAsyncWithMTLCommandQueue:g_queue
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
static void the_memory_comes_back() {
  const NSUInteger state_bytes = 64 * 64 * sizeof(float);
  auto allocated = [](NSUInteger bytes) {
    return becomes([bytes] { return [g_device currentAllocatedSize] == bytes; });
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
    with_arena = [g_device currentAllocatedSize];
    CHECK(with_arena >= g_allocated_at_first + state_bytes);
    run(), run();
    CHECK(allocated(with_arena));
    executable = [e.compiled() retain];
  }
  CHECK(g_graphs == 0);
  // The executable holds the variable, though the graph is gone.
  CHECK([g_device currentAllocatedSize] >= with_arena);
  @autoreleasepool {
    NSArray* inputs = list(tensor_data(random_array({64, 64})));
    NSArray* first = [executable runWithMTLCommandQueue:g_queue
                                            inputsArray:inputs
                                           resultsArray:nil
                                    executionDescriptor:nil];
    NSArray* second = [executable runWithMTLCommandQueue:g_queue
                                             inputsArray:inputs
                                            resultsArray:nil
                                     executionDescriptor:nil];
    CHECK(read_array([first objectAtIndex:0]).values.front() != read_array([second objectAtIndex:0]).values.front());
    [executable release];
  }
  CHECK(allocated(g_allocated_at_first));
}
#endif

int main() {
  @autoreleasepool {
    g_device = MTLCreateSystemDefaultDevice();
    g_queue = [g_device newCommandQueue];
    g_allocated_at_first = [g_device currentAllocatedSize];
    graphs_go_with_their_last_owner();
    a_graph_may_go_before_its_run_is_over();
    blocks_let_go_after_their_run();
    a_handler_may_run_the_graph();
#ifndef __APPLE__
    the_memory_comes_back();
#endif
    CHECK(g_graphs == 0 && g_witnesses == 0);
    [g_queue release];
    [g_device release];
  }
  return check::summary();
}
