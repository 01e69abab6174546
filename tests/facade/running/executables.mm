// Executables: the order of their inputs, every form of run, several over one graph's variables, life beyond
// the graph.

#include <map>
#include <memory>

#include "control_flow.h"

// The result that belongs to a tensor.
static MPSGraphTensorData* result_of(MPSGraphExecutable* executable, NSArray* results, MPSGraphTensor* tensor) {
  const NSUInteger i = [[executable targetTensors] indexOfObjectIdenticalTo:tensor];
  return i == NSNotFound ? nil : [results objectAtIndex:i];
}

// Five inputs of one shape, so that only their order tells them apart: sum of i * x_i.
struct Weighted {
  MPSGraph* graph;
  std::vector<MPSGraphTensor*> x;
  MPSGraphTensor *y, *first;
  MPSGraphExecutable* executable;
  NSMutableDictionary* feeds;
  std::vector<Array> values;

  Weighted() : graph([[MPSGraph new] autorelease]), feeds([NSMutableDictionary dictionary]) {
    for (int i = 0; i < 5; ++i) x.push_back(placeholder(graph, {2, 3}));
    for (int i : {3, 0, 4, 1, 2}) {
      MPSGraphTensor* term = times(graph, x.at(static_cast<size_t>(i)), scalar(graph, i + 1));
      y = i == 3 ? term : plus(graph, term, y);
    }
    first = [graph squareWithTensor:x.front() name:nil];
    for (MPSGraphTensor* tensor : x) {
      values.push_back(random_array({2, 3}));
      [feeds setObject:tensor_data(values.back()) forKey:tensor];
    }
    executable = compiled(graph, x, list(y, first));
  }

  Array sum() const {
    Array total({2, 3});
    for (size_t i = 0; i < 5; ++i) {
      const double weight = static_cast<double>(i + 1);
      total = map(total, values.at(i), [weight](double t, double v) { return t + weight * v; });
    }
    return total;
  }
  Array square() const {
    return map(values.front(), [](double v) { return v * v; });
  }
};

TEST(inputs_and_results_have_the_order_of_the_tensors) {
  const Weighted w;
  NSArray *feeds = [w.executable feedTensors], *targets = [w.executable targetTensors];
  CHECK([feeds count] == 5 && [targets count] == 2);
  for (MPSGraphTensor* tensor : w.x) CHECK([feeds indexOfObjectIdenticalTo:tensor] != NSNotFound);
  CHECK([targets indexOfObjectIdenticalTo:w.y] != NSNotFound &&
        [targets indexOfObjectIdenticalTo:w.first] != NSNotFound);
  NSArray* results = results_of(w.executable, inputs_of(w.executable, w.feeds));
  CHECK([results count] == 2);
  CHECK_ARRAY(read_array(result_of(w.executable, results, w.y)), w.sum());
  CHECK_ARRAY(read_array(result_of(w.executable, results, w.first)), w.square());
  // A second run gives new data.
  NSArray* again = results_of(w.executable, inputs_of(w.executable, w.feeds));
  CHECK([again objectAtIndex:0] != [results objectAtIndex:0]);
}

TEST(results_of_the_caller) {
  const Weighted w;
  NSMutableArray* mine = [NSMutableArray array];
  for (MPSGraphTensor* target in [w.executable targetTensors]) {
    [mine addObject:tensor_data(Array(shape_of([target shape]), -77.0))];
  }
  NSArray* results = [w.executable runWithMTLCommandQueue:the_queue()
                                              inputsArray:inputs_of(w.executable, w.feeds)
                                             resultsArray:mine
                                      executionDescriptor:nil];
  CHECK([results objectAtIndex:0] == [mine objectAtIndex:0] && [results objectAtIndex:1] == [mine objectAtIndex:1]);
  CHECK_ARRAY(read_array(result_of(w.executable, mine, w.y)), w.sum());
  CHECK_ARRAY(read_array(result_of(w.executable, mine, w.first)), w.square());
}

// The data may see as many elements in another shape, and may be that of an input.
TEST(results_of_another_shape_or_over_an_input) {
  const Weighted w;
  NSArray* inputs = inputs_of(w.executable, w.feeds);
  NSMutableArray* mine =
      [NSMutableArray arrayWithObjects:tensor_data(Array(Shape{6}, -77.0)), [inputs objectAtIndex:2], nil];
  [w.executable runWithMTLCommandQueue:the_queue() inputsArray:inputs resultsArray:mine executionDescriptor:nil];
  const Array sum = read_array(result_of(w.executable, mine, w.y)),
              square = read_array(result_of(w.executable, mine, w.first));
  CHECK(sum.shape == Shape{6} || square.shape == Shape{6});
  CHECK_ARRAY(Array({2, 3}, sum.values), w.sum());
  CHECK_ARRAY(Array({2, 3}, square.values), w.square());
}

TEST(asynchronous_runs) {
  const Weighted w;
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  CHECK([descriptor waitUntilCompleted] == NO && [descriptor completionHandler] == nil &&
        [descriptor scheduledHandler] == nil);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block int completed = 0, scheduled = 0;
  __block Array seen;
  MPSGraphExecutable* executable = w.executable;
  MPSGraphTensor* y = w.y;
  [descriptor setScheduledHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
    ++scheduled;
  }];
  [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>* results, NSError* error) {
    completed += error == nil && [results count] == 2;
    seen = read_array(result_of(executable, results, y));
    dispatch_semaphore_signal(done);
  }];
  // A copy has the same wishes.
  MPSGraphExecutableExecutionDescriptor* copy = [[descriptor copy] autorelease];
  for (MPSGraphExecutableExecutionDescriptor* wishes : {descriptor, copy}) {
    NSArray* results = [executable runAsyncWithMTLCommandQueue:the_queue()
                                                   inputsArray:inputs_of(executable, w.feeds)
                                                  resultsArray:nil
                                           executionDescriptor:wishes];
    CHECK([results count] == 2);
    CHECK(wait_for(done));
    CHECK_ARRAY(seen, w.sum());
    CHECK_ARRAY(read_array(result_of(executable, results, w.first)), w.square());
  }
  CHECK(completed == 2 && scheduled == 2);
  // Handlers are told of a run that waits, too.
  results_of(executable, inputs_of(executable, w.feeds));
  CHECK(completed == 2);
  [executable runWithMTLCommandQueue:the_queue()
                         inputsArray:inputs_of(executable, w.feeds)
                        resultsArray:nil
                 executionDescriptor:descriptor];
  CHECK(wait_for(done));
  CHECK(completed == 3 && scheduled == 3);

  MPSGraphExecutableExecutionDescriptor* waits = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [waits setWaitUntilCompleted:YES];
  CHECK([waits waitUntilCompleted] == YES);
  NSArray* results = [executable runAsyncWithMTLCommandQueue:the_queue()
                                                 inputsArray:inputs_of(executable, w.feeds)
                                                resultsArray:nil
                                         executionDescriptor:waits];
  CHECK_ARRAY(read_array(result_of(executable, results, w.y)), w.sum());
  dispatch_release(done);
}

TEST(encoded_runs_and_events) {
  const Weighted w;
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:7];
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  NSArray* results = [w.executable encodeToCommandBuffer:commands
                                             inputsArray:inputs_of(w.executable, w.feeds)
                                            resultsArray:nil
                                     executionDescriptor:descriptor];
  MPSGraphExecutableExecutionDescriptor* after = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [after waitForEvent:event value:7];
  id<MTLCommandQueue> other = [[the_device() newCommandQueue] autorelease];
  NSArray* later = [w.executable runAsyncWithMTLCommandQueue:other
                                                 inputsArray:inputs_of(w.executable, w.feeds)
                                                resultsArray:nil
                                         executionDescriptor:after];
  [commands commit];
  [[commands rootCommandBuffer] waitUntilCompleted];
  id<MTLCommandBuffer> last = [other commandBuffer];
  [last commit];
  [last waitUntilCompleted];
  CHECK([event signaledValue] == 7);
  CHECK_ARRAY(read_array(result_of(w.executable, results, w.y)), w.sum());
  CHECK_ARRAY(read_array(result_of(w.executable, later, w.y)), w.sum());
}

TEST(a_batch_of_unknown_length) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 3}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor *mean = [g meanOfTensor:x axes:numbers({0}) name:nil], *square = [g squareWithTensor:x name:nil];
  MPSGraphExecutable* executable = compiled(g, {x}, list(mean, square));
  for (long n : {4, 2, 7, 4}) {
    const Array value = random_array({n, 3});
    NSArray* results = results_of(executable, list(tensor_data(value)));
    const double count = static_cast<double>(n);
    CHECK_ARRAY(read_array(result_of(executable, results, mean)),
                map(sum_over(value, {0}), [count](double s) { return s / count; }));
    CHECK_ARRAY(read_array(result_of(executable, results, square)), map(value, [](double v) { return v * v; }));
  }
  [executable specializeWithDevice:the_graph_device() inputTypes:list(type_of({9, 3})) compilationDescriptor:nil];
  NSArray* types = [executable getOutputTypesWithDevice:the_graph_device()
                                             inputTypes:list(type_of({9, 3}))
                                  compilationDescriptor:nil];
  CHECK([types count] == 2);
  CHECK([result_of(executable, types, mean) isKindOfClass:[MPSGraphShapedType class]]);
  MPSGraphShapedType* of_mean = [types objectAtIndex:[[executable targetTensors] indexOfObjectIdenticalTo:mean]];
  MPSGraphShapedType* of_square = [types objectAtIndex:[[executable targetTensors] indexOfObjectIdenticalTo:square]];
  CHECK([of_mean isEqualTo:type_of({1, 3})] && [of_square isEqualTo:type_of({9, 3})]);
  const Array value = random_array({9, 3});
  CHECK_ARRAY(read_array(result_of(executable, results_of(executable, list(tensor_data(value))), square)),
              map(value, [](double v) { return v * v; }));
}

TEST(compilation_descriptors) {
  MPSGraphCompilationDescriptor* descriptor = [[MPSGraphCompilationDescriptor new] autorelease];
  CHECK([descriptor waitForCompilationCompletion] == NO && [descriptor compilationCompletionHandler] == nil);
  CHECK([descriptor optimizationProfile] == MPSGraphOptimizationProfilePerformance);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_queue_t queue = dispatch_queue_create("compilation", DISPATCH_QUEUE_SERIAL);
  __block MPSGraphExecutable* compiled = nil;
  [descriptor setOptimizationLevel:MPSGraphOptimizationLevel0];
  [descriptor setOptimizationProfile:MPSGraphOptimizationProfilePowerEfficiency];
  [descriptor setWaitForCompilationCompletion:YES];
  [descriptor setDispatchQueue:queue];
  [descriptor disableTypeInference];
  [descriptor setCompilationCompletionHandler:^(MPSGraphExecutable* executable, NSError* error) {
    if (error == nil) compiled = executable;
    dispatch_semaphore_signal(done);
  }];
  MPSGraphCompilationDescriptor* copy = [[descriptor copy] autorelease];
  CHECK([copy optimizationLevel] == MPSGraphOptimizationLevel0 && [copy waitForCompilationCompletion] == YES);
  CHECK([copy optimizationProfile] == MPSGraphOptimizationProfilePowerEfficiency && [copy dispatchQueue] == queue);
  CHECK([copy compilationCompletionHandler] != nil);
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(g, {3}), *y = [g negativeWithTensor:x name:nil];
  MPSGraphExecutable* executable = [g compileWithDevice:nil
                                                  feeds:pair(type_of({3}), x)
                                          targetTensors:list(y)
                                       targetOperations:nil
                                  compilationDescriptor:copy];
  CHECK(wait_for(done));
  CHECK(compiled == executable);
  CHECK([executable options] == MPSGraphOptionsDefault);
  [executable setOptions:MPSGraphOptionsNone];
  CHECK([executable options] == MPSGraphOptionsNone);
  CHECK_ARRAY(read_array([results_of(executable, list(tensor_data(Array({3}, {1, -2, 3})))) objectAtIndex:0]),
              Array({3}, {-1, 2, -3}));
  dispatch_release(done);
  dispatch_release(queue);
}

// One executable trains, the other evaluates, both over one graph's variables, and both outlive it.
TEST(two_executables_share_the_variables_of_a_graph_that_is_gone) {
  const Array w = random_array({3, 2});
  Array expected = w;
  MPSGraphExecutable *trains = nil, *evaluates = nil;
  @autoreleasepool {
    MPSGraph* g = [MPSGraph new];
    MPSGraphTensor *state = variable(g, w), *gradient = placeholder(g, {3, 2}), *x = placeholder(g, {4, 3});
    MPSGraphTensor* updated = descended(g, scalar(g, 0.5), state, gradient);
    MPSGraphTensor* y = matmul(g, x, state);
    trains = [compiled(g, {gradient}, [NSArray array], list(assigned(g, state, updated))) retain];
    evaluates = [compiled(g, {x}, list(y)) retain];
    [g release];
  }
  @autoreleasepool {
    CHECK([[trains feedTensors] count] == 1 && [[trains targetTensors] count] == 0);
    CHECK(shape_of([static_cast<MPSGraphTensor*>([[evaluates feedTensors] objectAtIndex:0]) shape]) == Shape({4, 3}));
    for (int step = 0; step < 5; ++step) {
      const Array gradient = random_array({3, 2}), x = random_array({4, 3});
      CHECK([results_of(trains, list(tensor_data(gradient))) count] == 0);
      expected = map(expected, gradient, [](double v, double d) { return v - 0.5 * d; });
      Array y({4, 2});
      for_each_index({4, 2, 3}, [&](const Index& i) {
        y.at({i.at(0), i.at(1)}) += x.at({i.at(0), i.at(2)}) * expected.at({i.at(2), i.at(1)});
      });
      CHECK_ARRAY(read_array([results_of(evaluates, list(tensor_data(x))) objectAtIndex:0]), y);
    }
  }
  [trains release];
  [evaluates release];
}

// A graph that is still there sees what its executables write, and the other way round.
TEST(graph_and_executable_share_the_state) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* state = variable(g, Array({1}, 1.0));
  MPSGraphOperation* step = assigned(g, state, plus(g, state, state));
  MPSGraphExecutable* executable = compiled(g, {}, list(state), list(step));
  CHECK(read_array([results_of(executable, [NSArray array]) objectAtIndex:0]).values.front() == 1);
  CHECK(session.run(state).values.front() == 2);
  session.perform({step});
  CHECK(read_array([results_of(executable, [NSArray array]) objectAtIndex:0]).values.front() == 4);
  CHECK(session.run(state).values.front() == 8);
  // Ops added after compiling change nothing for it.
  MPSGraphTensor* more = [g squareWithTensor:state name:nil];
  CHECK(session.run(more).values.front() == 64);
  CHECK(read_array([results_of(executable, [NSArray array]) objectAtIndex:0]).values.front() == 8);
}

#ifndef __APPLE__
// On a Mac each of these aborts the process or computes wrong numbers.
TEST(wrong_inputs_raise) {
  const Weighted w;
#ifndef __APPLE__  // no document says what init gives
  CHECK_RAISES([[MPSGraphExecutable alloc] init]);
#endif
  NSArray* inputs = inputs_of(w.executable, w.feeds);
  id nothing = nil;
  CHECK_RAISES(results_of(w.executable, [NSArray array]));
  CHECK_RAISES(results_of(w.executable, [inputs arrayByAddingObject:[inputs objectAtIndex:0]]));
  NSMutableArray* wrong = [NSMutableArray arrayWithArray:inputs];
  [wrong replaceObjectAtIndex:2 withObject:tensor_data(random_array({3, 2}))];
  CHECK_RAISES(results_of(w.executable, wrong));
  [wrong replaceObjectAtIndex:2 withObject:tensor_data(random_integers({2, 3}, 0, 9))];
  CHECK_RAISES(results_of(w.executable, wrong));
  NSMutableArray* mine = [NSMutableArray array];
  for (int i = 0; i < 2; ++i) [mine addObject:tensor_data(Array({2, 3}))];
  auto run_into = [&](NSArray* results) {
    [w.executable runWithMTLCommandQueue:the_queue() inputsArray:inputs resultsArray:results executionDescriptor:nil];
  };
  CHECK_RAISES(run_into(list([mine objectAtIndex:0])));
  CHECK_RAISES(run_into(list([mine objectAtIndex:0], tensor_data(Array({7})))));
  CHECK_RAISES(run_into(list([mine objectAtIndex:0], tensor_data(Array({2, 3}, 0, MPSDataTypeInt32)))));
  CHECK_RAISES(run_into(list([mine objectAtIndex:0], [mine objectAtIndex:0])));
  CHECK_RAISES([w.executable runWithMTLCommandQueue:nothing
                                        inputsArray:inputs
                                       resultsArray:nil
                                executionDescriptor:nil]);
  run_into(mine);
  CHECK_ARRAY(read_array(result_of(w.executable, mine, w.y)), w.sum());

  MPSGraph* g = w.graph;
  MPSGraph* stranger = [[MPSGraph new] autorelease];
  MPSGraphTensor* foreign = placeholder(stranger, {2, 3});
  NSDictionary* one = pair(type_of({2, 3}), w.x.front());
  auto compile = [&](NSDictionary* feeds, NSArray* targets, NSArray* operations) {
    [g compileWithDevice:the_graph_device()
                        feeds:feeds
                targetTensors:targets
             targetOperations:operations
        compilationDescriptor:nil];
  };
  CHECK_RAISES(compile(one, list(w.y), nil));
  CHECK_RAISES(compile(one, list(foreign), nil));
  CHECK_RAISES(compile(pair(type_of({2, 3}), foreign), [NSArray array], nil));
  CHECK_RAISES(compile(pair(type_of({3, 2}), w.x.front()), list(w.first), nil));
  CHECK_RAISES(compile(pair(type_of({2, 3}, MPSDataTypeInt32), w.x.front()), list(w.first), nil));
  compile(one, list(w.first), nil);
}

// The handler stops the run, so the memory holds what has been computed when a target is told.
TEST(targets_are_told_once_they_are_computed) {
  SEL selector = NSSelectorFromString(@"alloySetTargetHandler:");
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(g, {4, 4}), *flag = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor* times = [g constantWithScalar:3 shape:numbers({1}) dataType:MPSDataTypeInt32];
  MPSGraphTensor* early = [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:x name:nil];
  MPSGraphTensor* looped = first(repeated(g, times, list(early), ^(MPSGraphTensor*, NSArray* carried) {
    return list([g matrixMultiplicationWithPrimaryTensor:first(carried) secondaryTensor:x name:nil]);
  }));
  MPSGraphTensor* chosen = first(choose(
      g, flag, [&] { return list([g matrixMultiplicationWithPrimaryTensor:looped secondaryTensor:x name:nil]); },
      [&] { return list(looped); }));
  MPSGraphTensor* late = [g matrixMultiplicationWithPrimaryTensor:chosen secondaryTensor:early name:nil];
  MPSGraphExecutable* executable = compiled(g, {x, flag}, [NSArray arrayWithObjects:late, chosen, looped, early, nil]);
  const Array value = random_array({4, 4});
  const Array kept({4, 4}, 77);
  NSString* kind = [(id)the_device() performSelector:NSSelectorFromString(@"alloyKind")];
  const bool tells = [kind isEqualToString:@"cpu"];  // the tests' own device computes elsewhere, and tells nothing
  for (int branch : {0, 1}) {
    NSMutableDictionary* feeds = [NSMutableDictionary dictionary];
    [feeds setObject:tensor_data(value) forKey:x];
    [feeds setObject:tensor_data(::flag(branch)) forKey:flag];
    NSMutableArray* results = [NSMutableArray array];
    for (int i = 0; i < 4; ++i) [results addObject:tensor_data(kept)];
    auto told = std::make_shared<std::map<NSUInteger, Array>>();
    auto last_at_first = std::make_shared<Array>(kept);
    const NSUInteger last = [[executable targetTensors] indexOfObjectIdenticalTo:late];
    void (^handler)(NSUInteger) = ^(NSUInteger target) {
      if (told->empty()) *last_at_first = read_array([results objectAtIndex:last]);
      CHECK(told->count(target) == 0);
      (*told)[target] = read_array([results objectAtIndex:target]);
    };
    [(id)executable performSelector:selector withObject:(id)handler];
    [executable runWithMTLCommandQueue:the_queue()
                           inputsArray:inputs_of(executable, feeds)
                          resultsArray:results
                   executionDescriptor:nil];
    CHECK(told->size() == (tells ? 4 : 0));
    for (const auto& [target, array] : *told) CHECK_ARRAY(array, read_array([results objectAtIndex:target]));
    CHECK_ARRAY(*last_at_first, kept);
  }
  [(id)executable performSelector:selector withObject:nil];
}

// What the engine asks an executable that answers.
TEST(the_memory_plan_is_told) {
  SEL selector = NSSelectorFromString(@"alloyMemoryPlan");
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {-1, 4});
  MPSGraphTensor* v = [g variableWithData:bytes_of(random_array({4, 8}))
                                    shape:numbers({4, 8})
                                 dataType:MPSDataTypeFloat32
                                     name:nil];
  MPSGraphTensor* product = [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:v name:@"product"];
  MPSGraphTensor* y = [g reductionSumWithTensor:product axis:1 name:nil];
  auto compiled = [&](const Shape& shape) {
    return [g compileWithDevice:the_graph_device()
                          feeds:pair(type_of(shape), x)
                  targetTensors:list(y)
               targetOperations:nil
          compilationDescriptor:nil];
  };
  CHECK([(id)compiled({-1, 4}) performSelector:selector] == nil);
  MPSGraphExecutable* executable = compiled({100, 4});
  NSDictionary* plan = [(id)executable performSelector:selector];
  auto number = [&](NSString* key) { return [[plan objectForKey:key] longLongValue]; };
  CHECK(number(@"variables") == 4 * 4 * 8 && number(@"feeds") == 4 * 100 * 4 && number(@"results") == 4 * 100);
  CHECK(number(@"constants") == 0);
  // The second device (tests/remote_device) runs kernels at once, whose scratch is therefore among the values.
  const long long values = 4 * 100 * 8;
  CHECK([the_device() hasUnifiedMemory] ? number(@"arena") == values : number(@"arena") > values);
  // A plan takes no memory before the first run.
  NSArray *inputs = list(tensor_data(random_array({100, 4}))), *results = list(tensor_data(random_array({100, 1})));
  const NSUInteger before = [the_device() currentAllocatedSize];
  for (int i = 0; i < 2; ++i) {
    [executable runWithMTLCommandQueue:the_queue() inputsArray:inputs resultsArray:results executionDescriptor:nil];
    CHECK([the_device() currentAllocatedSize] - before == NSUInteger(number(@"arena") + number(@"scratch")));
  }
  NSArray* at_peak = [plan objectForKey:@"atPeak"];
  CHECK([at_peak count] == 1);
  NSDictionary* value = [at_peak objectAtIndex:0];
  CHECK([[value objectForKey:@"name"] isEqualToString:@"product"]);
  CHECK([[value objectForKey:@"kind"] isEqualToString:@"matmul"]);
  CHECK(shape_of([value objectForKey:@"shape"]) == Shape({100, 8}));
  CHECK([[value objectForKey:@"bytes"] longLongValue] == 4 * 100 * 8);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
