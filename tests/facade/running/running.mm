// Running a graph: every form of run, what its handlers are told, in which order runs happen, and which
// memory they use.

#include "graph_testing.h"

#include <unistd.h>
#include <cstdlib>
#include <cstring>

// y = a - 2 b, and an operation that adds a to a variable.
struct Example {
  MPSGraph* graph;
  MPSGraphTensor *a, *b, *y, *state;
  MPSGraphOperation* step;
  Array value_a, value_b, value_y;
  NSDictionary* feeds;

  Example() : graph([[MPSGraph new] autorelease]) {
    a = placeholder(graph, {2, 3});
    b = placeholder(graph, {3});
    state = variable(graph, Array({2, 3}, 100.0));
    MPSGraphTensor* two = scalar(graph, 2);
    y = minus(graph, a, times(graph, two, b));
    step = assigned(graph, state, plus(graph, state, a));
    value_a = random_array({2, 3});
    value_b = random_array({3});
    value_y = map(value_a, value_b, [](double u, double v) { return u - 2 * v; });
    feeds = [NSDictionary dictionaryWithObjectsAndKeys:tensor_data(value_a), a, tensor_data(value_b), b, nil];
  }

  Array state_now() const {
    return read_array([[graph runWithFeeds:[NSDictionary dictionary] targetTensors:list(state)
                          targetOperations:nil] objectForKey:state]);
  }
  Array state_after(int steps) const {
    return map(value_a, [steps](double v) { return 100 + steps * v; });
  }
};

static MPSGraphTensorData* empty_data(const Shape& shape) { return tensor_data(Array(shape, -77.0)); }

TEST(runs_that_wait) {
  const Example e;
  NSDictionary* results = [e.graph runWithFeeds:e.feeds targetTensors:list(e.y) targetOperations:list(e.step)];
  CHECK([results count] == 1);
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
  CHECK_ARRAY(e.state_now(), e.state_after(1));
  results = [e.graph runWithMTLCommandQueue:the_queue()
                                      feeds:e.feeds
                              targetTensors:list(e.y)
                           targetOperations:list(e.step)];
  CHECK([results count] == 1);
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
  CHECK_ARRAY(e.state_now(), e.state_after(2));
  MPSGraphTensorData* mine = empty_data({2, 3});
  [e.graph runWithMTLCommandQueue:the_queue() feeds:e.feeds targetOperations:nil resultsDictionary:pair(mine, e.y)];
  CHECK_ARRAY(read_array(mine), e.value_y);
  CHECK_ARRAY(e.state_now(), e.state_after(2));
  [e.graph runWithMTLCommandQueue:the_queue()
                            feeds:e.feeds
                 targetOperations:list(e.step)
                resultsDictionary:[NSDictionary dictionary]];
  CHECK_ARRAY(e.state_now(), e.state_after(3));
}

TEST(every_run_gives_new_data) {
  const Example e;
  MPSGraphTensorData* first = [[e.graph runWithFeeds:e.feeds targetTensors:list(e.y)
                                    targetOperations:nil] objectForKey:e.y];
  NSDictionary* other = [NSDictionary
      dictionaryWithObjectsAndKeys:tensor_data(Array({2, 3}, 1.0)), e.a, tensor_data(Array({3}, 1.0)), e.b, nil];
  MPSGraphTensorData* second = [[e.graph runWithFeeds:other targetTensors:list(e.y)
                                     targetOperations:nil] objectForKey:e.y];
  CHECK_ARRAY(read_array(first), e.value_y);
  CHECK_ARRAY(read_array(second), Array({2, 3}, -1.0));
}

TEST(asynchronous_runs_tell_their_handlers) {
  for (int form = 0; form < 3; ++form) {
    const Example e;
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block Array seen;
    __block bool has_error = true;
    __block int scheduled = 0, completed = 0;
    MPSGraphTensor* y = e.y;
    MPSGraphTensorData* mine = empty_data({2, 3});
    @autoreleasepool {
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      [descriptor setScheduledHandler:^(MPSGraphTensorDataDictionary*, NSError*) {
        ++scheduled;
      }];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* results, NSError* error) {
        ++completed;
        has_error = error != nil;
        seen = read_array([results objectForKey:y]);
        dispatch_semaphore_signal(done);
      }];
      if (form == 0) {
        NSDictionary* results = [e.graph runAsyncWithFeeds:e.feeds
                                             targetTensors:list(y)
                                          targetOperations:list(e.step)
                                       executionDescriptor:descriptor];
        CHECK([results objectForKey:y] != nil);
      } else if (form == 1) {
        NSDictionary* results = [e.graph runAsyncWithMTLCommandQueue:the_queue()
                                                               feeds:e.feeds
                                                       targetTensors:list(y)
                                                    targetOperations:list(e.step)
                                                 executionDescriptor:descriptor];
        CHECK([results objectForKey:y] != nil);
      } else {
        [e.graph runAsyncWithMTLCommandQueue:the_queue()
                                       feeds:e.feeds
                            targetOperations:list(e.step)
                           resultsDictionary:pair(mine, y)
                         executionDescriptor:descriptor];
      }
    }
    CHECK(wait_for(done));
    CHECK(!has_error && completed == 1 && scheduled == 1);
    CHECK_ARRAY(seen, e.value_y);
    if (form == 2) CHECK_ARRAY(read_array(mine), e.value_y);
    CHECK_ARRAY(e.state_now(), e.state_after(1));
    dispatch_release(done);
  }
}

TEST(waiting_until_completed) {
  const Example e;
  MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
  CHECK([descriptor waitUntilCompleted] == NO && [descriptor completionHandler] == nil &&
        [descriptor scheduledHandler] == nil);
  CHECK([descriptor compilationDescriptor] == nil);
  [descriptor setWaitUntilCompleted:YES];
  MPSGraphCompilationDescriptor* compilation = [[MPSGraphCompilationDescriptor new] autorelease];
  [compilation setOptimizationLevel:MPSGraphOptimizationLevel0];
  [descriptor setCompilationDescriptor:compilation];
  CHECK([[descriptor compilationDescriptor] optimizationLevel] == MPSGraphOptimizationLevel0);
  NSDictionary* results = [e.graph runAsyncWithFeeds:e.feeds
                                       targetTensors:list(e.y)
                                    targetOperations:nil
                                 executionDescriptor:descriptor];
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
  CHECK([descriptor waitUntilCompleted] == YES);
  // With neither a descriptor nor a wait the values come in their own time; a run on the same queue comes
  // after them.
  results = [e.graph runAsyncWithMTLCommandQueue:the_queue()
                                           feeds:e.feeds
                                   targetTensors:list(e.y)
                                targetOperations:nil
                             executionDescriptor:nil];
  [e.graph runWithMTLCommandQueue:the_queue() feeds:e.feeds targetTensors:list(e.y) targetOperations:nil];
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
}

TEST(runs_in_flight_keep_their_order) {
  constexpr int kRuns = 60;
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *state = variable(graph, Array({1}, 0.0)), *x = placeholder(graph, {1});
  // x - s comes out differently in any other order.
  MPSGraphTensor* next = minus(graph, x, state);
  MPSGraphOperation* step = assigned(graph, state, next);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  NSMutableArray* results = [NSMutableArray array];
  static std::vector<double> order;
  order.clear();
  for (int i = 0; i < kRuns; ++i) {
    @autoreleasepool {
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary* values, NSError* error) {
        if (error == nil) order.push_back(read_array([values objectForKey:next]).values.front());
        dispatch_semaphore_signal(done);
      }];
      NSDictionary* result =
          [graph runAsyncWithMTLCommandQueue:the_queue()
                                       feeds:pair(tensor_data(Array({1}, static_cast<double>(i * i))), x)
                               targetTensors:list(next)
                            targetOperations:list(step)
                         executionDescriptor:descriptor];
      [results addObject:[result objectForKey:next]];
    }
  }
  for (int i = 0; i < kRuns; ++i) CHECK(wait_for(done));
  double expected = 0;
  CHECK(order.size() == kRuns);
  for (int i = 0; i < kRuns; ++i) {
    expected = i * i - expected;
    CHECK(read_array([results objectAtIndex:static_cast<NSUInteger>(i)]).values.front() == expected);
    CHECK(order.at(static_cast<size_t>(i)) == expected);
  }
  dispatch_release(done);
}

TEST(encoding_to_a_command_buffer) {
  const Example e;
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  MPSGraphTensorData* mine = empty_data({2, 3});
  __block int completed = 0;
  MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
  [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError* error) {
    completed += error == nil;
  }];
  NSDictionary* results = [e.graph encodeToCommandBuffer:commands
                                                   feeds:e.feeds
                                           targetTensors:list(e.y)
                                        targetOperations:list(e.step)
                                     executionDescriptor:descriptor];
  [e.graph encodeToCommandBuffer:commands
                           feeds:e.feeds
                targetOperations:list(e.step)
               resultsDictionary:pair(mine, e.y)
             executionDescriptor:nil];
  [commands commit];
  [[commands rootCommandBuffer] waitUntilCompleted];
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
  CHECK_ARRAY(read_array(mine), e.value_y);
  CHECK_ARRAY(e.state_now(), e.state_after(2));
  CHECK(completed == 1);
}

#ifndef __APPLE__
// Until the commit nothing runs. (A Mac may commit early, by commitAndContinue.)
TEST(an_encoded_run_waits_for_the_commit) {
  const Example e;
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  MPSGraphTensorData* mine = empty_data({2, 3});
  [e.graph encodeToCommandBuffer:commands
                           feeds:e.feeds
                targetOperations:nil
               resultsDictionary:pair(mine, e.y)
             executionDescriptor:nil];
  CHECK_ARRAY(read_array(mine), Array({2, 3}, -77.0));
  [commands commit];
  [commands waitUntilCompleted];
  CHECK_ARRAY(read_array(mine), e.value_y);
}
#endif

TEST(targets_that_compute_nothing) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  const Array x = random_array({2, 3}), fixed = random_array({2, 3}), kept = random_array({2, 3});
  MPSGraphTensor *tx = placeholder(g, {2, 3}), *tc = constant(g, fixed), *tv = variable(g, kept);
  MPSGraphTensor* reshaped = [g reshapeTensor:tx withShape:numbers({6}) name:nil];
  MPSGraphTensor* y = plus(g, tx, tv);
  MPSGraphTensor* again = [g reshapeTensor:y withShape:numbers({3, 2}) name:nil];
  NSDictionary* results = [g runWithFeeds:pair(tensor_data(x), tx)
                            targetTensors:[NSArray arrayWithObjects:tx, tc, tv, reshaped, y, again, y, nil]
                         targetOperations:nil];
  const Array sum = map(x, kept, [](double a, double b) { return a + b; });
  CHECK([results count] == 6);
  CHECK_ARRAY(read_array([results objectForKey:tx]), x);
  CHECK_ARRAY(read_array([results objectForKey:tc]), fixed);
  CHECK_ARRAY(read_array([results objectForKey:tv]), kept);
  CHECK_ARRAY(read_array([results objectForKey:reshaped]), Array({6}, x.values));
  CHECK_ARRAY(read_array([results objectForKey:y]), sum);
  CHECK_ARRAY(read_array([results objectForKey:again]), Array({3, 2}, sum.values));
}

TEST(feeds_of_another_shape) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *bias = placeholder(graph, {1, 4, 1, 1}), *image = placeholder(graph, {1, 4, 2, 1});
  MPSGraphTensor* y = plus(graph, image, bias);
  const Array given = random_array({4}), pixels = random_array({1, 4, 2, 1});
  Array expected = pixels;
  for_each_index(pixels.shape, [&](const Index& i) { expected.at(i) += given.at({i.at(1)}); });
  const auto run = [&](const Array& fed) {
    NSDictionary* feeds =
        [NSDictionary dictionaryWithObjectsAndKeys:tensor_data(fed), bias, tensor_data(pixels), image, nil];
    return read_array([[graph runWithFeeds:feeds targetTensors:list(y) targetOperations:nil] objectForKey:y]);
  };
  CHECK_ARRAY(run(given), expected);
  CHECK_ARRAY(run(Array({4, 1}, given.values)), expected);
  MPSGraphExecutable* executable = compiled(graph, {bias, image}, list(y));
  NSMutableArray* inputs = [NSMutableArray array];
  for (MPSGraphTensor* tensor in [executable feedTensors]) {
    [inputs addObject:tensor_data(tensor == bias ? given : pixels)];
  }
  CHECK_ARRAY(read_array([results_of(executable, inputs) objectAtIndex:0]), expected);
#ifndef __APPLE__
  CHECK_RAISES(run(random_array({5})));
  CHECK_RAISES(run(random_array({2, 2})));
#endif
}

TEST(feeds_that_are_not_needed) {
  const Example e;
  MPSGraphTensor* more = placeholder(e.graph, {7});
  NSMutableDictionary* feeds = [NSMutableDictionary dictionaryWithDictionary:e.feeds];
  [feeds setObject:tensor_data(random_array({7})) forKey:more];
  NSDictionary* results = [e.graph runWithFeeds:feeds targetTensors:list(e.y) targetOperations:nil];
  CHECK_ARRAY(read_array([results objectForKey:e.y]), e.value_y);
  // And a run needs no feed where nothing of the target depends on it.
  MPSGraphTensor* half = [e.graph constantWithScalar:0.5 shape:numbers({2}) dataType:MPSDataTypeFloat32];
  results = [e.graph runWithFeeds:[NSDictionary dictionary] targetTensors:list(half) targetOperations:nil];
  CHECK_ARRAY(read_array([results objectForKey:half]), Array({2}, 0.5));
}

// Buffers and arrays of the caller are used as they are, rows with gaps too.
TEST(memory_of_the_caller) {
  const Example e;
  const NSUInteger row = 5 * sizeof(float);
  id<MTLBuffer> in = [[the_device() newBufferWithLength:2 * row options:MTLResourceStorageModeShared] autorelease];
  id<MTLBuffer> out = [[the_device() newBufferWithLength:2 * row options:MTLResourceStorageModeShared] autorelease];
  float *source = static_cast<float*>([in contents]), *result = static_cast<float*>([out contents]);
  for (int i = 0; i < 10; ++i) {
    *(source + i) = -1000;
    *(result + i) = -2000;
  }
  for_each_index({2, 3},
                 [&](const Index& i) { *(source + i.at(0) * 5 + i.at(1)) = static_cast<float>(e.value_a.at(i)); });
  MPSGraphTensorData* a = [[[MPSGraphTensorData alloc] initWithMTLBuffer:in
                                                                   shape:numbers({2, 3})
                                                                dataType:MPSDataTypeFloat32
                                                                rowBytes:row] autorelease];
  MPSGraphTensorData* y = [[[MPSGraphTensorData alloc] initWithMTLBuffer:out
                                                                   shape:numbers({2, 3})
                                                                dataType:MPSDataTypeFloat32
                                                                rowBytes:row] autorelease];
  NSDictionary* feeds = [NSDictionary dictionaryWithObjectsAndKeys:a, e.a, [e.feeds objectForKey:e.b], e.b, nil];
  [e.graph runWithMTLCommandQueue:the_queue() feeds:feeds targetOperations:nil resultsDictionary:pair(y, e.y)];
  for_each_index({2, 3}, [&](const Index& i) {
    CHECK_NEAR(static_cast<double>(*(result + i.at(0) * 5 + i.at(1))), e.value_y.at(i), 1e-5);
  });
  for (int column : {3, 4, 8, 9}) CHECK(*(result + column) == -2000);

  id<MTLBuffer> packed = [[the_device() newBufferWithLength:6 * sizeof(float)
                                                    options:MTLResourceStorageModeShared] autorelease];
  MPSGraphTensorData* whole = [[[MPSGraphTensorData alloc] initWithMTLBuffer:packed
                                                                       shape:numbers({2, 3})
                                                                    dataType:MPSDataTypeFloat32] autorelease];
  [e.graph runWithMTLCommandQueue:the_queue() feeds:feeds targetOperations:nil resultsDictionary:pair(whole, e.y)];
  for_each_index({2, 3}, [&](const Index& i) {
    CHECK_NEAR(static_cast<double>(*(static_cast<float*>([packed contents]) + i.at(0) * 3 + i.at(1))), e.value_y.at(i),
               1e-5);
  });

  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                            shape:numbers({2, 3})];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:the_device() descriptor:descriptor] autorelease];
  MPSGraphTensorData* view = [[[MPSGraphTensorData alloc] initWithMPSNDArray:array] autorelease];
  CHECK(shape_of([view shape]) == Shape({2, 3}) && [view dataType] == MPSDataTypeFloat32);
  CHECK([[view device] metalDevice] == the_device() && [[view device] type] == MPSGraphDeviceTypeMetal);
  [e.graph runWithMTLCommandQueue:the_queue() feeds:e.feeds targetOperations:nil resultsDictionary:pair(view, e.y)];
  float values[6];
  [array readBytes:values strideBytes:nil];
  for (size_t i = 0; i < 6; ++i) CHECK_NEAR(static_cast<double>(*(values + i)), e.value_y.values.at(i), 1e-5);
  // One buffer read under two shapes.
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *flat = placeholder(g, {6}), *square = [g squareWithTensor:flat name:nil];
  MPSGraphTensorData* line = [[[MPSGraphTensorData alloc] initWithMTLBuffer:packed
                                                                      shape:numbers({6})
                                                                   dataType:MPSDataTypeFloat32] autorelease];
  NSDictionary* results = [g runWithFeeds:pair(line, flat) targetTensors:list(square) targetOperations:nil];
  CHECK_ARRAY(read_array([results objectForKey:square]),
              Array({6}, map(e.value_y, [](double v) { return v * v; }).values));
}

static MPSGraphTensorData* over(id<MTLBuffer> buffer, const Shape& shape) {
  return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers(shape)
                                               dataType:MPSDataTypeFloat32] autorelease];
}

static id<MTLBuffer> buffer_with(const Array& array) {
  NSData* bytes = bytes_of(array);
  return [[the_device() newBufferWithBytes:[bytes bytes] length:[bytes length]
                                   options:MTLResourceStorageModeShared] autorelease];
}

// A sum of shape (1, 3) goes into data of shape (3), as programs give it: the same elements in their order, between
// gaps, too.
TEST(results_of_another_shape) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  const Array value = random_array({4, 3});
  MPSGraphTensor* x = placeholder(g, {4, 3});
  MPSGraphTensor *sum = [g reductionSumWithTensor:x axis:0 name:nil], *square = [g squareWithTensor:x name:nil];
  NSDictionary* feeds = pair(tensor_data(value), x);
  const Array sums = sum_over(value, {0}), squares = map(value, [](double v) { return v * v; });
  MPSGraphTensorData *flat = empty_data({3}), *tall = empty_data({3, 1}), *wide = empty_data({2, 6});
  [g runWithMTLCommandQueue:the_queue()
                      feeds:feeds
           targetOperations:nil
          resultsDictionary:[NSDictionary dictionaryWithObjectsAndKeys:flat, sum, wide, square, nil]];
  CHECK_ARRAY(read_array(flat), Array({3}, sums.values));
  CHECK_ARRAY(read_array(wide), Array({2, 6}, squares.values));
  [g runAsyncWithMTLCommandQueue:the_queue()
                           feeds:feeds
                targetOperations:nil
               resultsDictionary:pair(tall, sum)
             executionDescriptor:nil];
  [g runWithMTLCommandQueue:the_queue() feeds:feeds targetTensors:list(sum) targetOperations:nil];
  CHECK_ARRAY(read_array(tall), Array({3, 1}, sums.values));
  id<MTLBuffer> rows = buffer_with(Array(Shape{24}, -5.0));
  MPSGraphTensorData* gaps = [[[MPSGraphTensorData alloc] initWithMTLBuffer:rows
                                                                      shape:numbers({6, 2})
                                                                   dataType:MPSDataTypeFloat32
                                                                   rowBytes:4 * sizeof(float)] autorelease];
  [g runWithMTLCommandQueue:the_queue() feeds:feeds targetOperations:nil resultsDictionary:pair(gaps, square)];
  Array expected({6, 4}, -5.0);
  for_each_index(
      {6, 2}, [&](const Index& i) { expected.at(i) = squares.values.at(static_cast<size_t>(i.at(0) * 2 + i.at(1))); });
  CHECK_ARRAY(read_array(over(rows, {6, 4})), expected);
}

// A run whose results lie where its feeds do computes with the values that the feeds had before it.
static void run_into(MPSGraph* g, NSDictionary* feeds, NSDictionary* results) {
  [g runWithMTLCommandQueue:the_queue() feeds:feeds targetOperations:nil resultsDictionary:results];
}

static void run_async_into(MPSGraph* g, NSDictionary* feeds, NSDictionary* results) {
  MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
  [descriptor setWaitUntilCompleted:YES];
  [g runAsyncWithMTLCommandQueue:the_queue()
                           feeds:feeds
                targetOperations:nil
               resultsDictionary:results
             executionDescriptor:descriptor];
}

static void encode_into(MPSGraph* g, NSDictionary* feeds, NSDictionary* results) {
  MPSCommandBuffer* buffer = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  [g encodeToCommandBuffer:buffer feeds:feeds targetOperations:nil resultsDictionary:results executionDescriptor:nil];
  [buffer commit];
  [buffer waitUntilCompleted];
}

TEST(results_over_feeds) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  const Array value = random_array({67, 67}), other = random_array({67, 67});
  MPSGraphTensor *x = placeholder(g, {67, 67}), *z = placeholder(g, {67, 67});
  MPSGraphTensor* product = matmul(g, x, z);
  MPSGraphTensor* sum = plus(g, x, z);
  MPSGraphTensor* turned = [g transposeTensor:x dimension:0 withDimension:1 name:nil];
  Array products({67, 67});
  for_each_index({67, 67, 67}, [&](const Index& i) {
    products.at({i.at(0), i.at(1)}) += value.at({i.at(0), i.at(2)}) * other.at({i.at(2), i.at(1)});
  });
  const Array sums = map(value, other, [](double a, double b) { return a + b; });
  for (const auto form : {run_into, run_async_into, encode_into}) {
    for (MPSGraphTensor* target : {product, sum, turned}) {
      for (bool into_x : {true, false}) {
        id<MTLBuffer> in_x = buffer_with(value), in_z = buffer_with(other);
        NSDictionary* feeds =
            [NSDictionary dictionaryWithObjectsAndKeys:over(in_x, {67, 67}), x, over(in_z, {67, 67}), z, nil];
        form(g, feeds, pair(over(into_x ? in_x : in_z, {67, 67}), target));
        const Array expected = target == product ? products : target == sum ? sums : permuted(value, {1, 0});
        CHECK_ARRAY_WITHIN(1e-4, read_array(over(into_x ? in_x : in_z, {67, 67})), expected);
        CHECK_ARRAY_WITHIN(0, read_array(over(into_x ? in_z : in_x, {67, 67})), into_x ? other : value);
      }
    }
    // Both at once, crossed; and data that is the feed itself.
    id<MTLBuffer> in_x = buffer_with(value), in_z = buffer_with(other);
    MPSGraphTensorData *data_x = over(in_x, {67, 67}), *data_z = over(in_z, {67, 67});
    form(g, [NSDictionary dictionaryWithObjectsAndKeys:data_x, x, data_z, z, nil],
         [NSDictionary dictionaryWithObjectsAndKeys:data_z, turned, data_x, product, nil]);
    CHECK_ARRAY_WITHIN(1e-4, read_array(data_x), products);
    CHECK_ARRAY_WITHIN(0, read_array(data_z), permuted(value, {1, 0}));
  }
  // Many steps in flight, each on the values of the one before: 1, 2, 4, ...
  id<MTLBuffer> buffer = buffer_with(Array({67, 67}, 1.0));
  MPSGraphTensor* twice = plus(g, x, x);
  for (int step = 0; step < 20; ++step) {
    [g runAsyncWithMTLCommandQueue:the_queue()
                             feeds:pair(over(buffer, {67, 67}), x)
                  targetOperations:nil
                 resultsDictionary:pair(over(buffer, {67, 67}), twice)
               executionDescriptor:nil];
  }
  [g runWithMTLCommandQueue:the_queue()
                      feeds:pair(tensor_data(value), x)
              targetTensors:list(turned)
           targetOperations:nil];
  CHECK_ARRAY_WITHIN(0, read_array(over(buffer, {67, 67})), Array({67, 67}, 1048576.0));
}

// Buffers of two pages each over three pages of memory: the feed's second page is the result's first.
TEST(a_result_over_a_part_of_a_feed) {
  SKIP_UNLESS([the_device() hasUnifiedMemory]);
  const size_t page = static_cast<size_t>(getpagesize());
  const long count = static_cast<long>(2 * page / sizeof(float));
  void* memory = nullptr;
  CHECK(posix_memalign(&memory, page, 3 * page) == 0);
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {count});
  MPSGraphTensor* total = plus(g, x, [g reductionSumWithTensor:x axis:0 name:nil]);
  const Array value = random_integers({count}, -9, 9, MPSDataTypeFloat32);
  const double sum = sum_over(value, {0}).values.front();
  for (const bool result_first : {false, true}) {
    std::byte *first = static_cast<std::byte*>(memory), *second = first + page;
    auto buffer_at = [&](void* bytes) {
      return [[the_device() newBufferWithBytesNoCopy:bytes
                                              length:2 * page
                                             options:MTLResourceStorageModeShared
                                         deallocator:nil] autorelease];
    };
    id<MTLBuffer> in = buffer_at(result_first ? second : first), out = buffer_at(result_first ? first : second);
    NSData* bytes = bytes_of(value);
    std::memcpy([in contents], [bytes bytes], 2 * page);
    [g runWithMTLCommandQueue:the_queue()
                        feeds:pair(over(in, {count}), x)
             targetOperations:nil
            resultsDictionary:pair(over(out, {count}), total)];
    CHECK_ARRAY_WITHIN(0, read_array(over(out, {count})), map(value, [&](double v) { return v + sum; }));
  }
  std::free(memory);
}

TEST(a_length_unknown_until_the_run) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 3}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* any = [g placeholderWithShape:nil dataType:MPSDataTypeFloat32 name:nil];
  const Array w = random_array({3, 2});
  MPSGraphTensor* y = matmul(g, x, constant(g, w));
  MPSGraphTensor* sum = [g reductionSumWithTensor:plus(g, y, any) axis:0 name:nil];
  for (long n : {2, 5, 2, 1}) {
    const Array value = random_array({n, 3}), offset = n == 2 ? random_array({2}) : random_array({n, 1});
    NSDictionary* feeds =
        [NSDictionary dictionaryWithObjectsAndKeys:tensor_data(value), x, tensor_data(offset), any, nil];
    NSDictionary* results = [g runWithFeeds:feeds targetTensors:list(y, sum) targetOperations:nil];
    Array product({n, 2});
    for_each_index({n, 2, 3}, [&](const Index& i) {
      product.at({i.at(0), i.at(1)}) += value.at({i.at(0), i.at(2)}) * w.at({i.at(2), i.at(1)});
    });
    CHECK_ARRAY(read_array([results objectForKey:y]), product);
    CHECK_ARRAY(read_array([results objectForKey:sum]),
                sum_over(map(product, offset, [](double a, double b) { return a + b; }), {0}));
  }
}

int main(int count, char** arguments) { return check::run(count, arguments); }
