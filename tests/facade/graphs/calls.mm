// Executables that graphs call by name, against what they compute by definition.

#include "graph_testing.h"

#ifndef __APPLE__  // declared by SDKs from macOS 15 on

static MPSGraphCompilationDescriptor* calling(NSDictionary* callables) {
  MPSGraphCompilationDescriptor* descriptor = [[MPSGraphCompilationDescriptor new] autorelease];
  [descriptor setCallables:callables];
  return descriptor;
}

static NSDictionary* named(NSString* name, MPSGraphExecutable* executable) { return pair(executable, name); }

static MPSGraphExecutable* compiled(MPSGraph* graph, NSArray<MPSGraphTensor*>* feeds, NSArray<MPSGraphTensor*>* targets,
                                    NSDictionary* callables = nil) {
  NSMutableDictionary* types = [NSMutableDictionary dictionary];
  for (MPSGraphTensor* feed in feeds) {
    [types setObject:type_of(shape_of([feed shape]), [feed dataType]) forKey:feed];
  }
  return [graph compileWithDevice:the_graph_device()
                            feeds:types
                    targetTensors:targets
                 targetOperations:nil
            compilationDescriptor:calling(callables)];
}

static Array run(MPSGraphExecutable* executable, const Array& x) {
  return read_array([results_of(executable, list(tensor_data(x))) objectAtIndex:0]);
}

// x * x and 3 x, of any number of rows.
static MPSGraphExecutable* square_and_triple(bool open = true) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {open ? -1 : 2, 3});
  MPSGraphTensor* three = scalar(g, 3);
  return compiled(g, list(x), list([g squareWithTensor:x name:nil], times(g, x, three)));
}

static NSArray<MPSGraphTensor*>* call(MPSGraph* g, MPSGraphTensor* x, const Shape& shape = {2, 3}) {
  return [g callSymbolName:@"both"
              inputTensors:list(x)
               outputTypes:list(type_of(shape), type_of(shape))
                      name:@"a call"];
}

// The call's results minus x, called again with the first: (x^2)^2 - 3 x.
static MPSGraphExecutable* caller(NSDictionary* callables, MPSGraph* g = [[MPSGraph new] autorelease]) {
  MPSGraphTensor* x = placeholder(g, {2, 3});
  NSArray* first = call(g, x);
  CHECK([first count] == 2 && [[[first objectAtIndex:0] shape] isEqual:numbers({2, 3})]);
  MPSGraphTensor* fourth = [call(g, [first objectAtIndex:0]) objectAtIndex:0];
  return compiled(g, list(x), list(minus(g, fourth, [first objectAtIndex:1])), callables);
}

static double expected(double v) { return v * v * v * v - 3 * v; }

TEST(calls_of_an_executable) {
  const Array x = random_array({2, 3});
  for (const bool open : {true, false}) {
    NSDictionary* callables = named(@"both", square_and_triple(open));
    MPSGraphExecutable* executable = caller(callables);
    CHECK_ARRAY(run(executable, x), map(x, expected));
    CHECK([[calling(callables) callables] isEqual:callables]);
    CHECK([[[[calling(callables) copy] autorelease] callables] isEqual:callables]);
    // A call of what calls.
    MPSGraph* g = [[MPSGraph new] autorelease];
    MPSGraphTensor* y = placeholder(g, {2, 3});
    NSArray* outer = [g callSymbolName:@"outer" inputTensors:list(y) outputTypes:list(type_of({2, 3})) name:nil];
    MPSGraphExecutable* nested = compiled(g, list(y), list([g negativeWithTensor:[outer objectAtIndex:0] name:nil]),
                                          named(@"outer", executable));
    CHECK_ARRAY(run(nested, x), map(x, [](double v) { return -expected(v); }));
  }
  // Other executables by the same name are another program.
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* y = placeholder(g, {2, 3});
  // A type without a shape fits every shape.
  MPSGraphShapedType* const unranked = [[MPSGraphShapedType new] autorelease];
  for (MPSGraphShapedType* const type : {type_of({-1, 3}), unranked}) {
    NSArray* result = [g callSymbolName:@"f" inputTensors:list(y) outputTypes:list(type) name:nil];
    for (const bool negates : {true, false, true}) {
      MPSGraph* own = [[MPSGraph new] autorelease];
      MPSGraphTensor* z = placeholder(own, {2, 3});
      MPSGraphExecutable* f = compiled(
          own, list(z), list(negates ? [own negativeWithTensor:z name:nil] : [own squareWithTensor:z name:nil]));
      CHECK_ARRAY(run(compiled(g, list(y), result, named(@"f", f)), x),
                  map(x, [&](double v) { return negates ? -v : v * v; }));
    }
  }
}

TEST(calls_with_operands_in_the_order_of_feeds) {
  MPSGraph *own = [[MPSGraph new] autorelease], *g = [[MPSGraph new] autorelease];
  MPSGraphTensor *a = placeholder(own, {2, 3}), *b = placeholder(own, {2, 3}), *y = placeholder(g, {2, 3});
  MPSGraphExecutable* f = compiled(own, list(a, b), list(minus(own, a, b)));
  const double sign = [[f feedTensors] objectAtIndex:0] == a ? 1 : -1;
  NSArray* result = [g callSymbolName:@"f"
                         inputTensors:list(y, [g squareWithTensor:y name:nil])
                          outputTypes:list(type_of({2, 3}))
                                 name:nil];
  const Array x = random_array({2, 3});
  CHECK_ARRAY(run(compiled(g, list(y), result, named(@"f", f)), x),
              map(x, [&](double v) { return sign * (v - v * v); }));
}

// By the graph's own run methods, whose descriptor has one of compilation.
TEST(calls_of_a_run) {
  const Array x = random_array({2, 3});
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *y = placeholder(g, {2, 3}), *tripled = [call(g, y) objectAtIndex:1];
  MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
  [descriptor setCompilationDescriptor:calling(named(@"both", square_and_triple()))];
  [descriptor setWaitUntilCompleted:YES];
  for (int times = 0; times < 2; ++times) {
    NSDictionary* results = [g runAsyncWithFeeds:pair(tensor_data(x), y)
                                   targetTensors:list(tripled)
                                targetOperations:nil
                             executionDescriptor:descriptor];
    CHECK_ARRAY(read_array([results objectForKey:tripled]), map(x, [](double v) { return 3 * v; }));
  }
}

// In a branch, and in a package, which has the executable inside.
TEST(calls_inside) {
  const Array x = random_array({2, 3});
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* y = placeholder(g, {2, 3});
  MPSGraphTensor* none = scalar(g, 0);
  MPSGraphTensor* sum = total_of(g, y);
  NSArray* chosen = [g ifWithPredicateTensor:[g greaterThanWithPrimaryTensor:sum secondaryTensor:none name:nil]
      thenBlock:^{
        return list([call(g, y) objectAtIndex:1]);
      }
      elseBlock:^{
        return list([call(g, y) objectAtIndex:0]);
      }
      name:nil];
  NSDictionary* callables = named(@"both", square_and_triple());
  MPSGraphExecutable* branches =
      compiled(g, list(y), list([g identityWithTensor:[chosen objectAtIndex:0] name:nil]), callables);
  for (const double sign : {1.0, -1.0}) {
    const Array of_sign = map(random_array({2, 3}, 1, 2), [&](double v) { return sign * v; });
    CHECK_ARRAY(run(branches, of_sign), map(of_sign, [](double v) { return v > 0 ? 3 * v : v * v; }));
  }
  NSString* path =
      [NSTemporaryDirectory() stringByAppendingPathComponent:[[NSProcessInfo processInfo] globallyUniqueString]];
  NSURL* url = [NSURL fileURLWithPath:path];
  [caller(callables) serializeToMPSGraphPackageAtURL:url descriptor:nil];
  MPSGraphExecutable* loaded = [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url
                                                                   compilationDescriptor:nil] autorelease];
  CHECK_ARRAY(run(loaded, x), map(x, expected));
  [[NSFileManager defaultManager] removeItemAtPath:path error:nil];
}

TEST(calls_that_do_not_fit) {
  MPSGraphExecutable* both = square_and_triple();
  CHECK_RAISES(caller(nil));
  CHECK_RAISES(caller(named(@"other", both)));
  CHECK_RAISES(calling(named(@"both", (id) @"no executable")));
  CHECK_RAISES(calling(pair(both, [NSNumber numberWithInt:1])));
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(g, {2, 3}), *wide = placeholder(g, {2, 4}), *y = [call(g, x) objectAtIndex:0];
  const auto compile = [&](MPSGraphTensor* feed, NSArray* results) {
    compiled(g, list(feed), list([results objectAtIndex:0]), named(@"both", both));
  };
  NSArray* types = list(type_of({2, 3}), type_of({2, 3}));
  compile(x, list(y));
  CHECK_RAISES(compile(wide, call(g, wide)));    // another input
  CHECK_RAISES(compile(x, call(g, x, {3, 2})));  // other results
  CHECK_RAISES(compile(x, [g callSymbolName:@"both" inputTensors:list(x) outputTypes:list(type_of({2, 3})) name:nil]));
  CHECK_RAISES(compile(x, [g callSymbolName:@"both" inputTensors:list(x, x) outputTypes:types name:nil]));
  CHECK_RAISES([g callSymbolName:@"both" inputTensors:[NSArray array] outputTypes:types name:nil]);
  CHECK_RAISES([g callSymbolName:@"both" inputTensors:list(x) outputTypes:[NSArray array] name:nil]);
  CHECK_RAISES([g callSymbolName:@"both" inputTensors:list(x) outputTypes:list(@"no type") name:nil]);
  CHECK_RAISES([g callSymbolName:(id)list(x) inputTensors:list(x) outputTypes:types name:nil]);
  CHECK_RAISES([g gradientForPrimaryTensor:y withTensors:list(x) name:nil]);
  CHECK_RAISES([g runWithFeeds:pair(tensor_data(Array({2, 3})), x) targetTensors:list(y) targetOperations:nil]);
  // Variables belong to their own graph.
  MPSGraph* with_state = [[MPSGraph new] autorelease];
  MPSGraphTensor *z = placeholder(with_state, {2, 3}), *state = variable(with_state, Array({2, 3}, 1.0));
  MPSGraphTensor* sum = plus(with_state, z, state);
  both = compiled(with_state, list(z), list(sum, sum));
  CHECK_RAISES(compile(x, list(y)));
}

#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
