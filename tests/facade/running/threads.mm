// Graphs and executables used from several threads at once.

#include "graph_testing.h"

#include <thread>

constexpr int kThreads = 4, kRuns = 150;

template <class F>
static void on_threads(F work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&work, t] {
      @autoreleasepool {
        work(t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Sums of a product, different for each thread and run; computed by matrices so that kernels run in parallel
// inside too.
TEST(every_thread_has_a_graph) {
  static std::atomic<int> right{0};
  right = 0;
  on_threads([](int t) {
    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
    MPSGraph* g = [[MPSGraph new] autorelease];
    const long n = 16 + t;
    MPSGraphTensor *x = placeholder(g, {n, n}), *w = variable(g, Array({n, n}, 0.5));
    MPSGraphTensor* y = total_of(g, matmul(g, x, w));
    MPSGraphOperation* step = assigned(g, w, plus(g, w, scalar(g, 0.5)));
    for (int i = 0; i < kRuns; ++i) {
      @autoreleasepool {
        const double fill = i % 7 + t;
        NSDictionary* results = [g runWithMTLCommandQueue:queue
                                                    feeds:pair(tensor_data(Array({n, n}, fill)), x)
                                            targetTensors:list(y)
                                         targetOperations:list(step)];
        const double expected = fill * 0.5 * (i + 1) * static_cast<double>(n * n * n);
        right += std::fabs(read_array([results objectForKey:y]).values.front() - expected) <= 1e-5 * expected;
      }
    }
  });
  CHECK(right == kThreads * kRuns);
}

// Runs of one graph take turns: no write is lost, and no run mixes its feeds with another's.
TEST(one_graph_from_every_thread) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *counter = variable(g, Array({1}, 0.0)), *x = [g placeholderWithShape:numbers({-1, 8})
                                                                              dataType:MPSDataTypeFloat32
                                                                                  name:nil];
  MPSGraphTensor* next = plus(g, counter, scalar(g, 1));
  MPSGraphOperation* step = assigned(g, counter, next);
  MPSGraphTensor* y = total_of(g, [g squareWithTensor:x name:nil]);
  static std::atomic<int> right{0};
  right = 0;
  on_threads([&](int t) {
    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
    for (int i = 0; i < kRuns; ++i) {
      @autoreleasepool {
        const long n = 1 + (i + t) % 3;
        const double fill = t + 1;
        NSDictionary* feeds = pair(tensor_data(Array({n, 8}, fill)), x);
        NSDictionary* results = i % 2 == 0 ? [g runWithMTLCommandQueue:queue
                                                                 feeds:feeds
                                                         targetTensors:list(y)
                                                      targetOperations:list(step)]
                                           : [g runWithFeeds:feeds targetTensors:list(y) targetOperations:list(step)];
        right += read_array([results objectForKey:y]).values.front() == fill * fill * 8 * static_cast<double>(n);
      }
    }
  });
  CHECK(right == kThreads * kRuns);
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary] targetTensors:list(counter) targetOperations:nil];
  CHECK(read_array([results objectForKey:counter]).values.front() == kThreads * kRuns);
}

TEST(one_executable_from_every_thread) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 8}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = total_of(g, [g squareWithTensor:x name:nil]);
  MPSGraphExecutable* executable = compiled(g, {x}, list(y));
  static std::atomic<int> right{0};
  right = 0;
  on_threads([&](int t) {
    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
    for (int i = 0; i < kRuns; ++i) {
      @autoreleasepool {
        // Other lengths all the time, so that the executable's programs change under the other threads.
        const long n = 1 + (i + t) % 5;
        const double fill = t + 1;
        NSArray* results = [executable runWithMTLCommandQueue:queue
                                                  inputsArray:list(tensor_data(Array({n, 8}, fill)))
                                                 resultsArray:nil
                                          executionDescriptor:nil];
        right += read_array([results objectAtIndex:0]).values.front() == fill * fill * 8 * static_cast<double>(n);
      }
    }
  });
  CHECK(right == kThreads * kRuns);
}

TEST(asynchronous_runs_from_every_thread) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *counter = variable(g, Array({1}, 0.0)), *x = placeholder(g, {1});
  MPSGraphOperation* step = assigned(g, counter, plus(g, counter, x));
  static std::atomic<int> completed{0};
  completed = 0;
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  on_threads([&](int t) {
    for (int i = 0; i < kRuns; ++i) {
      @autoreleasepool {
        MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
        [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError* error) {
          completed += error == nil;
          dispatch_semaphore_signal(done);
        }];
        [g runAsyncWithFeeds:pair(tensor_data(Array({1}, static_cast<double>(t + 1))), x)
                  targetTensors:[NSArray array]
               targetOperations:list(step)
            executionDescriptor:descriptor];
      }
    }
  });
  for (int i = 0; i < kThreads * kRuns; ++i) {
    CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 60 * (int64_t)NSEC_PER_SEC)) == 0);
  }
  CHECK(completed == kThreads * kRuns);
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary] targetTensors:list(counter) targetOperations:nil];
  CHECK(read_array([results objectForKey:counter]).values.front() == kRuns * (1 + 2 + 3 + 4));
  dispatch_release(done);
}

int main(int count, char** arguments) { return check::run(count, arguments); }
