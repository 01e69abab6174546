// State: what a read sees, when an assign happens, and that variables live as long as the graph.

#include "graph_testing.h"

static MPSGraphTensor* scalar(MPSGraph* g, double value) {
  return [g constantWithScalar:value dataType:MPSDataTypeFloat32];
}

static MPSGraphTensor* plus(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static MPSGraphTensor* times(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static double value_of(Session& session, MPSGraphTensor* tensor) { return session.run(tensor).values.front(); }

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

static void writes_last_until_the_next_run() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 3.0));
  MPSGraphTensor* next = plus(g, v, scalar(g, 1));
  MPSGraphOperation* step = [g assignVariable:v withValueOfTensor:next name:nil];
  CHECK(value_of(session, v) == 3);
  // Building an assign, or computing its value, writes nothing.
  CHECK(value_of(session, next) == 4);
  CHECK(value_of(session, v) == 3);
  session.perform({step});
  CHECK(value_of(session, v) == 4);
  for (int i = 0; i < 10; ++i) session.perform({step});
  CHECK(value_of(session, v) == 14);
  // A result of the run that writes is computed from the old value.
  CHECK(session.run({next}, list(step)).front().values.front() == 15);
  CHECK(value_of(session, v) == 15);
}

static void an_implicit_read_sees_the_start_of_the_run() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({2}, {1, 2}));
  MPSGraphTensor* before = times(g, v, scalar(g, 10));
  MPSGraphOperation* assign = [g assignVariable:v withValueOfTensor:session.feed(Array({2}, {7, 8})) name:nil];
  MPSGraphTensor* after = times(g, v, scalar(g, 100));
  const std::vector<Array> seen = session.run({v, before, after}, list(assign));
  CHECK_ARRAY(seen.at(0), Array({2}, {1, 2}));
  CHECK_ARRAY(seen.at(1), Array({2}, {10, 20}));
  CHECK_ARRAY(seen.at(2), Array({2}, {100, 200}));
  CHECK_ARRAY(session.run(v), Array({2}, {7, 8}));
}

static void an_explicit_read_sees_the_last_write_before_it() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 1.0));
  MPSGraphTensor* r0 = [g readVariable:v name:nil];
  MPSGraphTensor* twenty = [g constantWithScalar:20 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphOperation* first = [g assignVariable:v withValueOfTensor:twenty name:nil];
  MPSGraphTensor* r1 = [g readVariable:v name:nil];
  MPSGraphOperation* second = [g assignVariable:v withValueOfTensor:plus(g, r1, scalar(g, 300)) name:nil];
  MPSGraphTensor* r2 = [g readVariable:v name:nil];
  const std::vector<Array> seen = session.run({r0, r1, r2, v}, [NSArray arrayWithObjects:second, first, nil]);
  CHECK(seen.at(0).values.front() == 1);
  CHECK(seen.at(1).values.front() == 20);
  CHECK(seen.at(2).values.front() == 320);
  CHECK(seen.at(3).values.front() == 1);
  CHECK(value_of(session, v) == 320);
  // A write that does not run is not seen: r1 alone reads what the last run left.
  CHECK(value_of(session, r1) == 320);
  CHECK(session.run({r1, r2}, list(second)).at(1).values.front() == 620);
}

static void a_control_dependency_runs_what_it_names() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 5.0));
  MPSGraphOperation* assign = [g assignVariable:v withValueOfTensor:plus(g, v, scalar(g, 1)) name:nil];
  NSArray* inside = [g controlDependencyWithOperations:list(assign)
                                        dependentBlock:^{
                                          return list([g readVariable:v name:nil]);
                                        }
                                                  name:@"after the step"];
  MPSGraphTensor* read = [inside objectAtIndex:0];
  CHECK([inside count] == 1);
  CHECK(value_of(session, read) == 6);
  CHECK(value_of(session, v) == 6);
  CHECK(value_of(session, times(g, read, scalar(g, 10))) == 70);
  CHECK(value_of(session, v) == 7);
  // As a target operation too it is one write.
  CHECK(session.run({read}, list(assign)).front().values.front() == 8);
  CHECK(value_of(session, v) == 8);
}

static void a_control_dependency_returns_all_of_its_block() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({3}, {1, 2, 5}));
  NSArray* inside = [g controlDependencyWithOperations:list([g assignVariable:v
                                                            withValueOfTensor:plus(g, v, scalar(g, 1))
                                                                         name:nil])
                                        dependentBlock:^{
                                          MPSGraphTensor* now = [g readVariable:v name:nil];
                                          return [NSArray arrayWithObjects:now, times(g, now, now), nil];
                                        }
                                                  name:nil];
  CHECK([inside count] == 2);
  const std::vector<Array> got = session.run({[inside objectAtIndex:0], [inside objectAtIndex:1]});
  CHECK_ARRAY(got.at(0), Array({3}, {2, 3, 6}));
  CHECK_ARRAY(got.at(1), Array({3}, {4, 9, 36}));
}

// Ops that compute nothing, and a tensor from outside, bring the named operations along as well.
static void whatever_the_block_returns_brings_the_operations_along() {
  for (int kind = 0; kind < 5; ++kind) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* v = variable(g, Array({2, 3}, 5.0));
    MPSGraphTensor* x = session.feed(random_array({2, 3}));
    MPSGraphOperation* assign = [g assignVariable:v withValueOfTensor:x name:nil];
    NSArray* inside = [g controlDependencyWithOperations:list(assign)
                                          dependentBlock:^{
                                            switch (kind) {
                                              case 0: return list([g identityWithTensor:x name:nil]);
                                              case 1:
                                                return list([g reshapeTensor:x withShape:numbers({2, 3}) name:nil]);
                                              case 2:
                                                return list([g broadcastTensor:x toShape:numbers({2, 3}) name:nil]);
                                              case 3: return list([g castTensor:x toType:MPSDataTypeFloat32 name:nil]);
                                              default: return list(x);
                                            }
                                          }
                                                    name:nil];
    const Array fed = read_array([session.feeds() objectForKey:x]);
    CHECK_ARRAY(session.run(static_cast<MPSGraphTensor*>([inside objectAtIndex:0])), fed);
    CHECK_ARRAY(session.run(v), fed);
  }
}

static void dependencies_nest() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 10.0));
  MPSGraphOperation* step_a = [g assignVariable:a withValueOfTensor:plus(g, a, scalar(g, 1)) name:nil];
  __block MPSGraphOperation* step_b = nil;
  NSArray* outer = [g controlDependencyWithOperations:list(step_a)
                                       dependentBlock:^{
                                         step_b = [g assignVariable:b
                                                  withValueOfTensor:plus(g, [g readVariable:a name:nil], b)
                                                               name:nil];
                                         return [g controlDependencyWithOperations:list(step_b)
                                                                    dependentBlock:^{
                                                                      return list([g readVariable:b name:nil]);
                                                                    }
                                                                              name:nil];
                                       }
                                                 name:nil];
  CHECK(value_of(session, [outer objectAtIndex:0]) == 12);
  CHECK(value_of(session, a) == 2 && value_of(session, b) == 12);
  // An op made after the block depends on nothing.
  MPSGraphTensor* later = times(g, b, scalar(g, 2));
  CHECK(value_of(session, later) == 24);
  CHECK(value_of(session, a) == 2);
  session.perform({step_b});
  CHECK(value_of(session, a) == 3 && value_of(session, b) == 15);
}

static void two_variables_swap() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({3}, {1, 2, 3})), *b = variable(g, Array({3}, {4, 5, 6}));
  MPSGraphOperation* to_a = [g assignVariable:a withValueOfTensor:b name:nil];
  MPSGraphOperation* to_b = [g assignVariable:b withValueOfTensor:a name:nil];
  session.perform({to_a, to_b});
  CHECK_ARRAY(session.run(a), Array({3}, {4, 5, 6}));
  CHECK_ARRAY(session.run(b), Array({3}, {1, 2, 3}));
  const std::vector<Array> old = session.run({a, b}, [NSArray arrayWithObjects:to_b, to_a, nil]);
  CHECK_ARRAY(old.at(0), Array({3}, {4, 5, 6}));
  CHECK_ARRAY(old.at(1), Array({3}, {1, 2, 3}));
  CHECK_ARRAY(session.run(a), Array({3}, {1, 2, 3}));
}

static void three_variables_rotate_with_arithmetic() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({2}, {1, 10})), *b = variable(g, Array({2}, {2, 20})),
                 *c = variable(g, Array({2}, {3, 30}));
  MPSGraphOperation* to_a = [g assignVariable:a withValueOfTensor:plus(g, a, b) name:nil];
  MPSGraphOperation* to_b = [g assignVariable:b withValueOfTensor:times(g, b, c) name:nil];
  MPSGraphOperation* to_c = [g assignVariable:c withValueOfTensor:a name:nil];
  session.perform({to_b, to_c, to_a});
  CHECK_ARRAY(session.run(a), Array({2}, {3, 30}));
  CHECK_ARRAY(session.run(b), Array({2}, {6, 600}));
  CHECK_ARRAY(session.run(c), Array({2}, {1, 10}));
}

static void one_value_for_two_variables_and_a_result() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({2}, {1, 2})), *b = variable(g, Array({2}, {3, 4}));
  MPSGraphTensor* sum = plus(g, a, b);
  MPSGraphOperation* to_a = [g assignVariable:a withValueOfTensor:sum name:nil];
  MPSGraphOperation* to_b = [g assignVariable:b withValueOfTensor:sum name:nil];
  const std::vector<Array> seen = session.run({sum, a, b}, [NSArray arrayWithObjects:to_a, to_b, nil]);
  CHECK_ARRAY(seen.at(0), Array({2}, {4, 6}));
  CHECK_ARRAY(seen.at(1), Array({2}, {1, 2}));
  CHECK_ARRAY(seen.at(2), Array({2}, {3, 4}));
  CHECK_ARRAY(session.run(a), Array({2}, {4, 6}));
  CHECK_ARRAY(session.run(b), Array({2}, {4, 6}));
}

// A new value that is only another shape, a copy or a slice of the old one must not be written over while it
// is read.
static void a_variable_permutes_itself() {
  Session session;
  MPSGraph* g = session.graph();
  const Array initial = random_array({4, 4});
  MPSGraphTensor* v = variable(g, initial);
  MPSGraphOperation* transpose = [g assignVariable:v
                                 withValueOfTensor:[g transposeTensor:v dimension:0 withDimension:1 name:nil]
                                              name:nil];
  session.perform({transpose});
  CHECK_ARRAY(session.run(v), permuted(initial, {1, 0}));
  MPSGraphTensor* reversed = [g sliceTensor:v
                                     starts:numbers({-1, -1})
                                       ends:numbers({-5, -5})
                                    strides:numbers({-1, -1})
                                       name:nil];
  session.perform({[g assignVariable:v withValueOfTensor:reversed name:nil]});
  Array expected({4, 4});
  for_each_index(expected.shape, [&](const Index& i) { expected.at(i) = initial.at({3 - i.at(1), 3 - i.at(0)}); });
  CHECK_ARRAY(session.run(v), expected);
  session.perform({[g assignVariable:v withValueOfTensor:v name:nil]});
  CHECK_ARRAY(session.run(v), expected);
  MPSGraphTensor* product = [g matrixMultiplicationWithPrimaryTensor:v secondaryTensor:v name:nil];
  session.perform({[g assignVariable:v withValueOfTensor:product name:nil]});
  Array squared({4, 4});
  for_each_index({4, 4, 4}, [&](const Index& i) {
    squared.at({i.at(0), i.at(1)}) += expected.at({i.at(0), i.at(2)}) * expected.at({i.at(2), i.at(1)});
  });
  CHECK_ARRAY(session.run(v), squared);
  // Each row minus the sum over all rows: every element of the old value is needed until the last new one is
  // made.
  MPSGraphTensor* total = [g reductionSumWithTensor:v axis:0 name:nil];
  session.perform({[g assignVariable:v
                   withValueOfTensor:[g subtractionWithPrimaryTensor:v secondaryTensor:total name:nil]
                                name:nil]});
  const Array sums = sum_over(squared, {0});
  CHECK_ARRAY(session.run(v), map(squared, sums, [](double a, double s) { return a - s; }));
}

static void state_belongs_to_its_graph() {
  Session first, second;
  MPSGraphTensor *a = variable(first.graph(), Array({1}, 1.0)), *b = variable(second.graph(), Array({1}, 1.0));
  MPSGraphOperation* step = [first.graph() assignVariable:a withValueOfTensor:plus(first.graph(), a, a) name:nil];
  for (int i = 0; i < 3; ++i) first.perform({step});
  CHECK(value_of(first, a) == 8 && value_of(second, b) == 1);
}

// Assign, then read under a control dependency: the value is there, and no gradient flows back through it.
static void stop_gradient() {
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({3, 4}), w = random_array({4});
  MPSGraphTensor *tx = session.feed(x), *tw = session.feed(w);
  MPSGraphTensor* product = times(g, tx, tw);
  MPSGraphTensor* kept = variable(g, Array({3, 4}, 99.0));
  MPSGraphOperation* assign = [g assignVariable:kept withValueOfTensor:product name:nil];
  NSArray* stopped = [g controlDependencyWithOperations:list(assign)
                                         dependentBlock:^{
                                           return list([g readVariable:kept name:nil]);
                                         }
                                                   name:nil];
  MPSGraphTensor* constant_part = [stopped objectAtIndex:0];
  // loss = sum(stop(x w) * x): without the stop d/dx would be 2 x w.
  MPSGraphTensor* loss = [g reductionSumWithTensor:times(g, constant_part, tx) axes:nil name:nil];
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:list(tx) name:nil];
  auto multiply = [](double a, double b) { return a * b; };
  const std::vector<Array> found = session.run({[gradients objectForKey:tx], constant_part});
  CHECK_ARRAY(found.at(0), map(x, w, multiply));
  CHECK_ARRAY(found.at(1), map(x, w, multiply));
  CHECK_ARRAY(session.run(kept), map(x, w, multiply));
#ifndef __APPLE__
  CHECK_RAISES([g gradientForPrimaryTensor:loss withTensors:list(tw) name:nil]);
#endif
}

static void gradients_reach_a_variable_through_both_kinds_of_read() {
  Session session;
  MPSGraph* g = session.graph();
  const Array v = random_array({3}), x = random_array({3}), y = random_array({3});
  MPSGraphTensor* tv = variable(g, v);
  MPSGraphTensor* direct = times(g, tv, session.feed(x));
  MPSGraphTensor* read = times(g, [g readVariable:tv name:nil], session.feed(y));
  MPSGraphTensor* loss = [g reductionSumWithTensor:plus(g, direct, read) axes:nil name:nil];
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:list(tv) name:nil];
  CHECK_ARRAY(session.run(static_cast<MPSGraphTensor*>([gradients objectForKey:tv])),
              map(x, y, [](double a, double b) { return a + b; }));
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
static void a_variable_begins_with_a_constant() {
  if (![MPSGraph instancesRespondToSelector:@selector(variableFromTensorWithTensor:name:)]) return;
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({2, 3});
  MPSGraphTensor *v = [g variableFromTensorWithTensor:constant(g, x) name:@"v"],
                 *ones = [g variableFromTensorWithTensor:[g constantWithScalar:1
                                                                         shape:numbers({2, 3})
                                                                      dataType:MPSDataTypeFloat32]
                                                    name:nil];
  CHECK([[v operation] isKindOfClass:[MPSGraphVariableOp class]]);
  CHECK_ARRAY(session.run(v), x);
  MPSGraphTensor* next = plus(g, v, ones);
  session.perform({[g assignVariable:v withValueOfTensor:next name:nil]});
  CHECK_ARRAY(session.run(v), map(x, [](double a) { return a + 1; }));
  CHECK_ARRAY(session.run(ones), Array({2, 3}, 1));
  CHECK_RAISES([g variableFromTensorWithTensor:next name:nil]);
  CHECK_RAISES([g variableFromTensorWithTensor:session.feed(x) name:nil]);
}
#endif

int main() {
  @autoreleasepool {
#ifndef __APPLE__
    a_variable_begins_with_a_constant();
#endif
    writes_last_until_the_next_run();
    an_implicit_read_sees_the_start_of_the_run();
    an_explicit_read_sees_the_last_write_before_it();
    a_control_dependency_runs_what_it_names();
    a_control_dependency_returns_all_of_its_block();
    whatever_the_block_returns_brings_the_operations_along();
    dependencies_nest();
    two_variables_swap();
    three_variables_rotate_with_arithmetic();
    one_value_for_two_variables_and_a_result();
    a_variable_permutes_itself();
    state_belongs_to_its_graph();
    stop_gradient();
    gradients_reach_a_variable_through_both_kinds_of_read();
  }
  return check::summary();
}
