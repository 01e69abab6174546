// whileWithInitialInputs: and the two forLoop methods: what they carry, capture, read and write, and gradients through
// counted loops.

#include "graph_testing.h"

using Tensors = NSArray<MPSGraphTensor*>*;

static Tensors list(id a) { return [NSArray arrayWithObject:a]; }
static Tensors list(id a, id b) { return [NSArray arrayWithObjects:a, b, nil]; }

static MPSGraphTensor* scalar(MPSGraph* g, double value, MPSDataType type = MPSDataTypeFloat32) {
  return [g constantWithScalar:value dataType:type];
}
static MPSGraphTensor* number(MPSGraph* g, double value) { return scalar(g, value, MPSDataTypeInt32); }

static MPSGraphTensor* plus(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}
static MPSGraphTensor* times(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}
static MPSGraphTensor* total(MPSGraph* g, MPSGraphTensor* x) { return [g reductionSumWithTensor:x axes:nil name:nil]; }

// Doubles x while its sum is below the bound, and counts; the predicate runs once more than the body.
static void a_loop_ends_by_its_predicate() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, 2})), *bound = session.feed(Array({}, 20.0));
  __block int built = 0;
  Tensors results = [g whileWithInitialInputs:list(x, constant(g, Array({2}, {5, 9}, MPSDataTypeInt32)))
      before:^(Tensors inputs, NSMutableArray<MPSGraphTensor*>* passed) {
        ++built;
        // In another order, and one more.
        [passed addObject:[inputs objectAtIndex:1]];
        [passed addObject:[inputs objectAtIndex:0]];
        [passed addObject:total(g, [inputs objectAtIndex:0])];
        return [g lessThanWithPrimaryTensor:[passed objectAtIndex:2] secondaryTensor:bound name:nil];
      }
      after:^(Tensors inputs) {
        ++built;
        CHECK([inputs count] == 3);
        return list(times(g, [inputs objectAtIndex:1], scalar(g, 2)), plus(g, [inputs objectAtIndex:0], number(g, 1)));
      }
      name:@"doubling"];
  CHECK(built == 2 && [results count] == 3);
  MPSGraphTensor *count = [results objectAtIndex:0], *y = [results objectAtIndex:1];
  CHECK_ARRAY(session.run(y), Array({2}, {8, 16}));
  CHECK_ARRAY(session.run(count), Array({2}, {8, 12}, MPSDataTypeInt32));
  CHECK(session.run([results objectAtIndex:2]).values.front() == 24);
  session.set(bound, Array({}, 3.0));
  CHECK_ARRAY(session.run(y), Array({2}, {1, 2}));
  CHECK_ARRAY(session.run(count), Array({2}, {5, 9}, MPSDataTypeInt32));
}

// lower, lower + step, ... below upper; 10 i + the number of the iteration so far.
static void a_loop_counts() {
  struct Bounds {
    double lower, upper, step, last, iterations;
  };
  for (const Bounds& b :
       {Bounds{2, 9, 3, 8, 3}, Bounds{-2, 2, 1, 1, 4}, Bounds{3, 3, 1, -7, 0}, Bounds{0, 7, 7, 0, 1}}) {
    Session session;
    MPSGraph* g = session.graph();
    Tensors results = [g forLoopWithLowerBound:number(g, b.lower)
                                    upperBound:number(g, b.upper)
                                          step:number(g, b.step)
                          initialBodyArguments:list(number(g, -7), constant(g, Array({2}, {0, 5}, MPSDataTypeInt32)))
                                          body:^(MPSGraphTensor* index, Tensors arguments) {
                                            CHECK([index dataType] == MPSDataTypeInt32 && [[index shape] count] == 0);
                                            return list(index, plus(g, [arguments objectAtIndex:1], number(g, 1)));
                                          }
                                          name:nil];
    const std::vector<Array> got = session.run({[results objectAtIndex:0], [results objectAtIndex:1]});
    CHECK(got.at(0).values.front() == b.last);
    CHECK_ARRAY(got.at(1), Array({2}, {b.iterations, b.iterations + 5}, MPSDataTypeInt32));
  }
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* n = session.feed(Array({}, 4, MPSDataTypeInt32));
  Tensors results =
      [g forLoopWithNumberOfIterations:n
                  initialBodyArguments:list(number(g, 0), constant(g, Array({2}, {3, 1}, MPSDataTypeInt32)))
                                  body:^(MPSGraphTensor* index, Tensors arguments) {
                                    return list(plus(g, times(g, [arguments objectAtIndex:0], number(g, 10)), index),
                                                times(g, [arguments objectAtIndex:1], number(g, 2)));
                                  }
                                  name:nil];
  CHECK(session.run([results objectAtIndex:0]).values.front() == 123);
  CHECK_ARRAY(session.run([results objectAtIndex:1]), Array({2}, {48, 16}, MPSDataTypeInt32));
  session.set(n, Array({}, 6, MPSDataTypeInt32));
  CHECK(session.run([results objectAtIndex:0]).values.front() == 12345);
}

// A loop in a loop in a branch, with tensors and a variable of the blocks around.
static void loops_nest_and_capture() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, -1})), *flag = session.feed(Array({1}, 1, MPSDataTypeInt32)),
                 *w = variable(g, Array({2}, {3, 5}));
  Tensors results = [g ifWithPredicateTensor:flag
      thenBlock:^{
        return [g forLoopWithNumberOfIterations:number(g, 3)
                           initialBodyArguments:list(x)
                                           body:^(MPSGraphTensor* i, Tensors outer) {
                                             Tensors inner =
                                                 [g forLoopWithLowerBound:number(g, 0)
                                                               upperBound:i
                                                                     step:number(g, 1)
                                                     initialBodyArguments:outer
                                                                     body:^(MPSGraphTensor*, Tensors a) {
                                                                       return list(plus(g, [a objectAtIndex:0], w));
                                                                     }
                                                                     name:nil];
                                             return list(times(g, [inner objectAtIndex:0], x));
                                           }
                                           name:nil];
      }
      elseBlock:^{
        return list(w);
      }
      name:nil];
  // ((x x + w) x + 2 w) x
  CHECK_ARRAY(session.run([results objectAtIndex:0]), Array({2}, {1 + 3 + 6, 1 + 5 - 10}));
  session.set(flag, Array({1}, 0, MPSDataTypeInt32));
  CHECK_ARRAY(session.run([results objectAtIndex:0]), Array({2}, {3, 5}));
}

// What an iteration assigns, the next one reads; operands stay what they were before the run.
static void iterations_write_variables() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* state = variable(g, Array({1}, 2.0));
  Tensors results =
      [g forLoopWithNumberOfIterations:number(g, 3)
                  initialBodyArguments:list([g constantWithScalar:0 shape:numbers({1}) dataType:MPSDataTypeFloat32])
                                  body:^(MPSGraphTensor*, Tensors arguments) {
                                    MPSGraphTensor* seen = [g readVariable:state name:nil];
                                    MPSGraphOperation* write = [g assignVariable:state
                                                               withValueOfTensor:times(g, seen, state)
                                                                            name:nil];
                                    return [g controlDependencyWithOperations:[NSArray arrayWithObject:write]
                                                               dependentBlock:^{
                                                                 MPSGraphTensor* now = [g readVariable:state name:nil];
                                                                 return list(plus(g, [arguments objectAtIndex:0], now));
                                                               }
                                                                         name:nil];
                                  }
                                  name:nil];
  CHECK(session.run([results objectAtIndex:0]).values.front() == 4 + 8 + 16);
  CHECK(session.run(state).values.front() == 16);
}

static MPSGraphTensor* row(MPSGraph* g, MPSGraphTensor* rows, MPSGraphTensor* index) {
  return [g gatherWithUpdatesTensor:rows indicesTensor:index axis:0 batchDimensions:0 name:nil];
}

static void gradients_flow_through_counted_loops() {
  const Build recurrence = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& x) {
    MPSGraphTensor *xs = x.at(0), *w = x.at(2);
    Tensors results = [g forLoopWithLowerBound:number(g, 1)
                                    upperBound:number(g, 6)
                                          step:number(g, 2)
                          initialBodyArguments:list(x.at(1), number(g, 0))
                                          body:^(MPSGraphTensor* i, Tensors a) {
                                            MPSGraphTensor* product =
                                                [g matrixMultiplicationWithPrimaryTensor:[a objectAtIndex:0]
                                                                         secondaryTensor:w
                                                                                    name:nil];
                                            return list([g tanhWithTensor:plus(g, product, row(g, xs, i)) name:nil],
                                                        plus(g, [a objectAtIndex:1], i));
                                          }
                                          name:nil];
    return [results objectAtIndex:0];
  };
  CHECK_GRADIENTS(recurrence, {random_array({6, 2, 3}), random_array({2, 3}), random_array({3, 3}, -0.5, 0.5)});
  const Build nested = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& x) {
    MPSGraphTensor* w = x.at(1);
    Tensors results =
        [g forLoopWithNumberOfIterations:number(g, 3)
                    initialBodyArguments:list(x.at(0))
                                    body:^(MPSGraphTensor* i, Tensors outer) {
                                      MPSGraphTensor* h = [outer objectAtIndex:0];
                                      return [g ifWithPredicateTensor:[g equalWithPrimaryTensor:i
                                                                                secondaryTensor:number(g, 1)
                                                                                           name:nil]
                                          thenBlock:^{
                                            return [g forLoopWithNumberOfIterations:number(g, 2)
                                                               initialBodyArguments:list(h)
                                                                               body:^(MPSGraphTensor*, Tensors inner) {
                                                                                 return list(times(
                                                                                     g, [inner objectAtIndex:0], w));
                                                                               }
                                                                               name:nil];
                                          }
                                          elseBlock:^{
                                            return list([g sigmoidWithTensor:plus(g, h, w) name:nil]);
                                          }
                                          name:nil];
                                    }
                                    name:nil];
    return [results objectAtIndex:0];
  };
  CHECK_GRADIENTS(nested, {random_array({3}), random_array({3})});
}

static void gradients_count_as_often_as_a_shape_says() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *xs = session.feed(Array({3, 1}, {2, 3, 5})), *length = [g shapeOfTensor:xs name:nil];
  MPSGraphTensor* n = [g sliceTensor:length dimension:0 start:0 length:1 name:nil];
  Tensors results = [g forLoopWithNumberOfIterations:n
                                initialBodyArguments:list([g constantWithScalar:1
                                                                          shape:numbers({1})
                                                                       dataType:MPSDataTypeFloat32])
                                                body:^(MPSGraphTensor* i, Tensors a) {
                                                  return list(times(g, [a objectAtIndex:0], row(g, xs, i)));
                                                }
                                                name:nil];
  NSDictionary* found = [g gradientForPrimaryTensor:[results objectAtIndex:0] withTensors:list(xs) name:nil];
  CHECK_ARRAY(session.run([found objectForKey:xs]), Array({3, 1}, {15, 10, 6}));
  CHECK([[[[results objectAtIndex:0] operation] outputTensors] isEqual:results]);  // what is stacked travels unseen
}

#ifndef __APPLE__
static void loops_that_do_not_fit_raise() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(Array({2}, {1, 2})), *n = session.feed(Array({}, 3, MPSDataTypeInt32));
  MPSGraphForLoopBodyBlock grows = ^(MPSGraphTensor*, Tensors a) {
    return list([g concatTensor:[a objectAtIndex:0] withTensor:x dimension:0 name:nil]);
  };
  MPSGraphForLoopBodyBlock nothing = nil;
  MPSGraphForLoopBodyBlock more = ^(MPSGraphTensor*, Tensors a) {
    return list([a objectAtIndex:0], x);
  };
  CHECK_RAISES([g forLoopWithNumberOfIterations:n initialBodyArguments:list(x) body:grows name:nil]);
  CHECK_RAISES([g forLoopWithNumberOfIterations:n initialBodyArguments:list(x) body:more name:nil]);
  CHECK_RAISES([g forLoopWithNumberOfIterations:x initialBodyArguments:list(x) body:more name:nil]);
  CHECK_RAISES([g forLoopWithNumberOfIterations:n initialBodyArguments:list(x) body:nothing name:nil]);
  CHECK_RAISES([g whileWithInitialInputs:list(x)
      before:^(Tensors inputs, NSMutableArray<MPSGraphTensor*>* passed) {
        [passed addObjectsFromArray:inputs];
        return x;
      }
      after:^(Tensors inputs) {
        return inputs;
      }
      name:nil]);
  // Nothing is known of how often this one runs.
  MPSGraphForLoopBodyBlock squares = ^(MPSGraphTensor*, Tensors a) {
    return list([g squareWithTensor:[a objectAtIndex:0] name:nil]);
  };
  Tensors results = [g forLoopWithNumberOfIterations:n initialBodyArguments:list(x) body:squares name:nil];
  MPSGraphTensor* y = [results objectAtIndex:0];
  CHECK_RAISES([g gradientForPrimaryTensor:y withTensors:list(x) name:nil]);
  CHECK_ARRAY(session.run(y), Array({2}, {1, 256}));
}
#endif

// Every mode, with two slices at one place, and one outside.
static void slices_are_scattered() {
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

int main() {
  @autoreleasepool {
    a_loop_ends_by_its_predicate();
    a_loop_counts();
    loops_nest_and_capture();
    iterations_write_variables();
    gradients_flow_through_counted_loops();
    gradients_count_as_often_as_a_shape_says();
    slices_are_scattered();
#ifndef __APPLE__
    loops_that_do_not_fit_raise();
#endif
  }
  return check::summary();
}
