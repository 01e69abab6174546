// whileWithInitialInputs: and the two forLoop methods: what they carry, capture, read and write, and gradients through
// counted loops.

#include "control_flow.h"

static MPSGraphTensor* number(MPSGraph* g, double value) { return scalar(g, value, MPSDataTypeInt32); }

// Doubles x while its sum is below the bound, and counts; the predicate runs once more than the body.
TEST(a_loop_ends_by_its_predicate) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, 2})), *bound = session.feed(Array({}, 20.0));
  __block int built = 0;
  NSArray* results = [g whileWithInitialInputs:list(x, constant(g, Array({2}, {5, 9}, MPSDataTypeInt32)))
      before:^(NSArray* inputs, NSMutableArray<MPSGraphTensor*>* passed) {
        ++built;
        // In another order, and one more.
        [passed addObject:[inputs objectAtIndex:1]];
        [passed addObject:[inputs objectAtIndex:0]];
        [passed addObject:total_of(g, [inputs objectAtIndex:0])];
        return [g lessThanWithPrimaryTensor:[passed objectAtIndex:2] secondaryTensor:bound name:nil];
      }
      after:^(NSArray* inputs) {
        ++built;
        CHECK([inputs count] == 3);
        return list(times(g, [inputs objectAtIndex:1], scalar(g, 2)), plus(g, [inputs objectAtIndex:0], number(g, 1)));
      }
      name:@"doubling"];
  CHECK(built == 2 && [results count] == 3);
  MPSGraphTensor *count = first(results), *y = [results objectAtIndex:1];
  CHECK_ARRAY(session.run(y), Array({2}, {8, 16}));
  CHECK_ARRAY(session.run(count), Array({2}, {8, 12}, MPSDataTypeInt32));
  CHECK(session.run([results objectAtIndex:2]).values.front() == 24);
  session.set(bound, Array({}, 3.0));
  CHECK_ARRAY(session.run(y), Array({2}, {1, 2}));
  CHECK_ARRAY(session.run(count), Array({2}, {5, 9}, MPSDataTypeInt32));
}

// lower, lower + step, ... below upper; 10 i + the number of the iteration so far.
TEST(a_loop_counts) {
  struct Bounds {
    double lower, upper, step, last, iterations;
  };
  for (const Bounds& b :
       {Bounds{2, 9, 3, 8, 3}, Bounds{-2, 2, 1, 1, 4}, Bounds{3, 3, 1, -7, 0}, Bounds{0, 7, 7, 0, 1}}) {
    Session session;
    MPSGraph* g = session.graph();
    auto body = [&](MPSGraphTensor* index, NSArray* carried) {
      CHECK([index dataType] == MPSDataTypeInt32 && [[index shape] count] == 0);
      return list(index, plus(g, [carried objectAtIndex:1], number(g, 1)));
    };
    NSArray* initial = list(number(g, -7), constant(g, Array({2}, {0, 5}, MPSDataTypeInt32)));
    NSArray* results = counted(g, number(g, b.lower), number(g, b.upper), number(g, b.step), initial, body);
    const std::vector<Array> got = session.run({first(results), [results objectAtIndex:1]});
    CHECK(got.at(0).values.front() == b.last);
    CHECK_ARRAY(got.at(1), Array({2}, {b.iterations, b.iterations + 5}, MPSDataTypeInt32));
  }
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* n = session.feed(Array({}, 4, MPSDataTypeInt32));
  auto body = [&](MPSGraphTensor* index, NSArray* carried) {
    return list(plus(g, times(g, first(carried), number(g, 10)), index),
                times(g, [carried objectAtIndex:1], number(g, 2)));
  };
  NSArray* results = repeated(g, n, list(number(g, 0), constant(g, Array({2}, {3, 1}, MPSDataTypeInt32))), body);
  CHECK(session.run(first(results)).values.front() == 123);
  CHECK_ARRAY(session.run([results objectAtIndex:1]), Array({2}, {48, 16}, MPSDataTypeInt32));
  session.set(n, Array({}, 6, MPSDataTypeInt32));
  CHECK(session.run(first(results)).values.front() == 12345);
}

// A loop in a loop in a branch, with tensors and a variable of the blocks around.
TEST(loops_nest_and_capture) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, -1})), *taken = session.feed(flag(1)),
                 *w = variable(g, Array({2}, {3, 5}));
  auto add = [&](MPSGraphTensor*, NSArray* carried) { return list(plus(g, first(carried), w)); };
  auto body = [&](MPSGraphTensor* i, NSArray* carried) {
    NSArray* inner = counted(g, number(g, 0), i, number(g, 1), carried, add);
    return list(times(g, first(inner), x));
  };
  auto loop = [&] { return repeated(g, number(g, 3), list(x), body); };
  NSArray* results = choose(g, taken, loop, [&] { return list(w); });
  // ((x x + w) x + 2 w) x
  CHECK_ARRAY(session.run(first(results)), Array({2}, {1 + 3 + 6, 1 + 5 - 10}));
  session.set(taken, flag(0));
  CHECK_ARRAY(session.run(first(results)), Array({2}, {3, 5}));
}

// What an iteration assigns, the next one reads; operands stay what they were before the run.
TEST(iterations_write_variables) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* state = variable(g, Array({1}, 2.0));
  auto body = [&](MPSGraphTensor*, NSArray* carried) {
    MPSGraphOperation* write = assigned(g, state, times(g, read(g, state), state));
    return after(g, write, [&] { return list(plus(g, first(carried), read(g, state))); });
  };
  NSArray* initial = list([g constantWithScalar:0 shape:numbers({1}) dataType:MPSDataTypeFloat32]);
  NSArray* results = repeated(g, number(g, 3), initial, body);
  CHECK(session.run(first(results)).values.front() == 4 + 8 + 16);
  CHECK(session.run(state).values.front() == 16);
}

static MPSGraphTensor* row(MPSGraph* g, MPSGraphTensor* rows, MPSGraphTensor* index) {
  return [g gatherWithUpdatesTensor:rows indicesTensor:index axis:0 batchDimensions:0 name:nil];
}

TEST(gradients_flow_through_counted_loops) {
  const Build recurrence = [](MPSGraph* g, const Tensors& x) {
    auto body = [&](MPSGraphTensor* i, NSArray* carried) {
      MPSGraphTensor* sum = plus(g, matmul(g, first(carried), x.at(2)), row(g, x.at(0), i));
      return list([g tanhWithTensor:sum name:nil], plus(g, [carried objectAtIndex:1], i));
    };
    return first(counted(g, number(g, 1), number(g, 6), number(g, 2), list(x.at(1), number(g, 0)), body));
  };
  CHECK_GRADIENTS(recurrence, {random_array({6, 2, 3}), random_array({2, 3}), random_array({3, 3}, -0.5, 0.5)});
  const Build nested = [](MPSGraph* g, const Tensors& x) {
    MPSGraphTensor* w = x.at(1);
    auto multiply = [&](MPSGraphTensor*, NSArray* carried) { return list(times(g, first(carried), w)); };
    auto body = [&](MPSGraphTensor* i, NSArray* carried) {
      MPSGraphTensor* is_second = [g equalWithPrimaryTensor:i secondaryTensor:number(g, 1) name:nil];
      auto loop = [&] { return repeated(g, number(g, 2), carried, multiply); };
      return choose(g, is_second, loop,
                    [&] { return list([g sigmoidWithTensor:plus(g, first(carried), w) name:nil]); });
    };
    return first(repeated(g, number(g, 3), list(x.at(0)), body));
  };
  CHECK_GRADIENTS(nested, {random_array({3}), random_array({3})});
}

TEST(gradients_count_as_often_as_a_shape_says) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *xs = session.feed(Array({3, 1}, {2, 3, 5})), *length = [g shapeOfTensor:xs name:nil];
  MPSGraphTensor* n = [g sliceTensor:length dimension:0 start:0 length:1 name:nil];
  NSArray* initial = list([g constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeFloat32]);
  auto body = [&](MPSGraphTensor* i, NSArray* carried) { return list(times(g, first(carried), row(g, xs, i))); };
  NSArray* results = repeated(g, n, initial, body);
  NSDictionary* found = [g gradientForPrimaryTensor:first(results) withTensors:list(xs) name:nil];
  CHECK_ARRAY(session.run([found objectForKey:xs]), Array({3, 1}, {15, 10, 6}));
  CHECK([[[first(results) operation] outputTensors] isEqual:results]);  // what is stacked travels unseen
}

#ifndef __APPLE__
TEST(loops_that_do_not_fit_raise) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, 2})), *n = session.feed(Array({}, 3, MPSDataTypeInt32));
  const Body grows = [&](MPSGraphTensor*, NSArray* carried) {
    return list([g concatTensor:first(carried) withTensor:x dimension:0 name:nil]);
  };
  const Body more = [&](MPSGraphTensor*, NSArray* carried) { return list(first(carried), x); };
  MPSGraphForLoopBodyBlock nothing = nil;
  CHECK_RAISES(repeated(g, n, list(x), grows));
  CHECK_RAISES(repeated(g, n, list(x), more));
  CHECK_RAISES(repeated(g, x, list(x), more));
  CHECK_RAISES([g forLoopWithNumberOfIterations:n initialBodyArguments:list(x) body:nothing name:nil]);
  CHECK_RAISES([g whileWithInitialInputs:list(x)
      before:^(NSArray* inputs, NSMutableArray<MPSGraphTensor*>* passed) {
        [passed addObjectsFromArray:inputs];
        return x;
      }
      after:^(NSArray* inputs) {
        return inputs;
      }
      name:nil]);
  // Nothing is known of how often this one runs.
  const Body squares = [&](MPSGraphTensor*, NSArray* carried) {
    return list([g squareWithTensor:first(carried) name:nil]);
  };
  NSArray* results = repeated(g, n, list(x), squares);
  MPSGraphTensor* y = first(results);
  CHECK_RAISES([g gradientForPrimaryTensor:y withTensors:list(x) name:nil]);
  CHECK_ARRAY(session.run(y), Array({2}, {1, 256}));
}
#endif

// Every mode, with two slices at one place, and one outside.
TEST(slices_are_scattered) {
  const Array data = random_array({3, 5, 2}), updates = signed_array({3, 4, 2}, 0.5, 2);
  const std::vector<double> places = {4, 0, 4, 7};
  using Combine = double (*)(double, double);
  const std::pair<MPSGraphScatterMode, Combine> modes[] = {
      {MPSGraphScatterModeAdd, [](double x, double u) { return x + u; }},
      {MPSGraphScatterModeSub, [](double x, double u) { return x - u; }},
      {MPSGraphScatterModeMul, [](double x, double u) { return x * u; }},
      {MPSGraphScatterModeDiv, [](double x, double u) { return x / u; }},
      {MPSGraphScatterModeMin, [](double x, double u) { return std::min(x, u); }},
      {MPSGraphScatterModeMax, [](double x, double u) { return std::max(x, u); }},
      {MPSGraphScatterModeSet, [](double, double u) { return u; }},
  };
  for (const auto& [mode, combine] : modes) {
    for (NSInteger axis : {1, -2}) {
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphTensor* indices = session.feed(Array({4}, places, MPSDataTypeInt32));
      MPSGraphTensor* y = [g scatterWithDataTensor:session.feed(data)
                                     updatesTensor:session.feed(updates)
                                     indicesTensor:indices
                                              axis:axis
                                              mode:mode
                                              name:nil];
      Array expected = data;
      for (long j = 0; j < 4; ++j) {
        if (places.at(static_cast<size_t>(j)) > 4) continue;
        for (long i = 0; i < 3; ++i) {
          for (long k = 0; k < 2; ++k) {
            double& v = expected.at({i, static_cast<long>(places.at(static_cast<size_t>(j))), k});
            v = combine(v, updates.at({i, j, k}));
          }
        }
      }
      CHECK_ARRAY(session.run(y), expected);
    }
  }
}

int main(int count, char** arguments) { return check::run(count, arguments); }
