// State: what a read sees, when an assign happens, and that variables live as long as the graph.

#include "control_flow.h"

TEST(writes_last_until_the_next_run) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 3.0));
  MPSGraphTensor* next = plus(g, v, scalar(g, 1));
  MPSGraphOperation* step = assigned(g, v, next);
  CHECK(session.value(v) == 3);
  // Building an assign, or computing its value, writes nothing.
  CHECK(session.value(next) == 4);
  CHECK(session.value(v) == 3);
  session.perform({step});
  CHECK(session.value(v) == 4);
  for (int i = 0; i < 10; ++i) session.perform({step});
  CHECK(session.value(v) == 14);
  // A result of the run that writes is computed from the old value.
  CHECK(session.run({next}, list(step)).front().values.front() == 15);
  CHECK(session.value(v) == 15);
}

TEST(an_implicit_read_sees_the_start_of_the_run) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({2}, {1, 2}));
  MPSGraphTensor* before = times(g, v, scalar(g, 10));
  MPSGraphOperation* assign = assigned(g, v, session.feed(Array({2}, {7, 8})));
  MPSGraphTensor* after = times(g, v, scalar(g, 100));
  const std::vector<Array> seen = session.run({v, before, after}, list(assign));
  CHECK_ARRAY(seen.at(0), Array({2}, {1, 2}));
  CHECK_ARRAY(seen.at(1), Array({2}, {10, 20}));
  CHECK_ARRAY(seen.at(2), Array({2}, {100, 200}));
  CHECK_ARRAY(session.run(v), Array({2}, {7, 8}));
}

TEST(an_explicit_read_sees_the_last_write_before_it) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 1.0));
  MPSGraphTensor* r0 = read(g, v);
  MPSGraphTensor* twenty = [g constantWithScalar:20 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphOperation* write = assigned(g, v, twenty);
  MPSGraphTensor* r1 = read(g, v);
  MPSGraphOperation* second = assigned(g, v, plus(g, r1, scalar(g, 300)));
  MPSGraphTensor* r2 = read(g, v);
  const std::vector<Array> seen = session.run({r0, r1, r2, v}, list(second, write));
  CHECK(seen.at(0).values.front() == 1);
  CHECK(seen.at(1).values.front() == 20);
  CHECK(seen.at(2).values.front() == 320);
  CHECK(seen.at(3).values.front() == 1);
  CHECK(session.value(v) == 320);
  // A write that does not run is not seen: r1 alone reads what the last run left.
  CHECK(session.value(r1) == 320);
  CHECK(session.run({r1, r2}, list(second)).at(1).values.front() == 620);
}

TEST(a_control_dependency_runs_what_it_names) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 5.0));
  MPSGraphOperation* assign = assigned(g, v, plus(g, v, scalar(g, 1)));
  NSArray* inside = [g controlDependencyWithOperations:list(assign)
                                        dependentBlock:^{
                                          return list(read(g, v));
                                        }
                                                  name:@"after the step"];
  MPSGraphTensor* seen = first(inside);
  CHECK([inside count] == 1);
  CHECK(session.value(seen) == 6);
  CHECK(session.value(v) == 6);
  CHECK(session.value(times(g, seen, scalar(g, 10))) == 70);
  CHECK(session.value(v) == 7);
  // As a target operation too it is one write.
  CHECK(session.run({seen}, list(assign)).front().values.front() == 8);
  CHECK(session.value(v) == 8);
}

TEST(a_control_dependency_returns_all_of_its_block) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({3}, {1, 2, 5}));
  NSArray* inside = after(g, assigned(g, v, plus(g, v, scalar(g, 1))), [&] {
    MPSGraphTensor* now = read(g, v);
    return list(now, times(g, now, now));
  });
  CHECK([inside count] == 2);
  const std::vector<Array> got = session.run({[inside objectAtIndex:0], [inside objectAtIndex:1]});
  CHECK_ARRAY(got.at(0), Array({3}, {2, 3, 6}));
  CHECK_ARRAY(got.at(1), Array({3}, {4, 9, 36}));
}

// Ops that compute nothing, and a tensor from outside, bring the named operations along as well.
TEST(whatever_the_block_returns_brings_the_operations_along) {
  const Way ways[] = {
      WAY([g identityWithTensor:x name:nil]), WAY([g reshapeTensor:x withShape:numbers({2, 3}) name:nil]),
      WAY([g broadcastTensor:x toShape:numbers({2, 3}) name:nil]),
      WAY([g castTensor:x toType:MPSDataTypeFloat32 name:nil]), [](MPSGraph*, MPSGraphTensor* x) { return x; }};
  for (const Way& way : ways) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* v = variable(g, Array({2, 3}, 5.0));
    const Array fed = random_array({2, 3});
    MPSGraphTensor* x = session.feed(fed);
    NSArray* inside = after(g, assigned(g, v, x), [&] { return list(way(g, x)); });
    CHECK_ARRAY(session.run(first(inside)), fed);
    CHECK_ARRAY(session.run(v), fed);
  }
}

TEST(dependencies_nest) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 10.0));
  MPSGraphOperation* step_a = assigned(g, a, plus(g, a, scalar(g, 1)));
  MPSGraphOperation* step_b = nil;
  NSArray* outer = after(g, step_a, [&] {
    step_b = assigned(g, b, plus(g, read(g, a), b));
    return after(g, step_b, [&] { return list(read(g, b)); });
  });
  CHECK(session.value(first(outer)) == 12);
  CHECK(session.value(a) == 2 && session.value(b) == 12);
  // An op made after the block depends on nothing.
  MPSGraphTensor* later = times(g, b, scalar(g, 2));
  CHECK(session.value(later) == 24);
  CHECK(session.value(a) == 2);
  session.perform({step_b});
  CHECK(session.value(a) == 3 && session.value(b) == 15);
}

TEST(two_variables_swap) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({3}, {1, 2, 3})), *b = variable(g, Array({3}, {4, 5, 6}));
  MPSGraphOperation* to_a = assigned(g, a, b);
  MPSGraphOperation* to_b = assigned(g, b, a);
  session.perform({to_a, to_b});
  CHECK_ARRAY(session.run(a), Array({3}, {4, 5, 6}));
  CHECK_ARRAY(session.run(b), Array({3}, {1, 2, 3}));
  const std::vector<Array> old = session.run({a, b}, list(to_b, to_a));
  CHECK_ARRAY(old.at(0), Array({3}, {4, 5, 6}));
  CHECK_ARRAY(old.at(1), Array({3}, {1, 2, 3}));
  CHECK_ARRAY(session.run(a), Array({3}, {1, 2, 3}));
}

TEST(three_variables_rotate_with_arithmetic) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({2}, {1, 10})), *b = variable(g, Array({2}, {2, 20})),
                 *c = variable(g, Array({2}, {3, 30}));
  MPSGraphOperation* to_a = assigned(g, a, plus(g, a, b));
  MPSGraphOperation* to_b = assigned(g, b, times(g, b, c));
  MPSGraphOperation* to_c = assigned(g, c, a);
  session.perform({to_b, to_c, to_a});
  CHECK_ARRAY(session.run(a), Array({2}, {3, 30}));
  CHECK_ARRAY(session.run(b), Array({2}, {6, 600}));
  CHECK_ARRAY(session.run(c), Array({2}, {1, 10}));
}

TEST(one_value_for_two_variables_and_a_result) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({2}, {1, 2})), *b = variable(g, Array({2}, {3, 4}));
  MPSGraphTensor* sum = plus(g, a, b);
  MPSGraphOperation* to_a = assigned(g, a, sum);
  MPSGraphOperation* to_b = assigned(g, b, sum);
  const std::vector<Array> seen = session.run({sum, a, b}, list(to_a, to_b));
  CHECK_ARRAY(seen.at(0), Array({2}, {4, 6}));
  CHECK_ARRAY(seen.at(1), Array({2}, {1, 2}));
  CHECK_ARRAY(seen.at(2), Array({2}, {3, 4}));
  CHECK_ARRAY(session.run(a), Array({2}, {4, 6}));
  CHECK_ARRAY(session.run(b), Array({2}, {4, 6}));
}

// A new value that is only another shape, a copy or a slice of the old one must not be written over while it
// is read.
TEST(a_variable_permutes_itself) {
  Session session;
  MPSGraph* g = session.graph();
  const Array initial = random_array({4, 4});
  MPSGraphTensor* v = variable(g, initial);
  MPSGraphOperation* transpose = assigned(g, v, [g transposeTensor:v dimension:0 withDimension:1 name:nil]);
  session.perform({transpose});
  CHECK_ARRAY(session.run(v), permuted(initial, {1, 0}));
  MPSGraphTensor* reversed = [g sliceTensor:v
                                     starts:numbers({-1, -1})
                                       ends:numbers({-5, -5})
                                    strides:numbers({-1, -1})
                                       name:nil];
  session.perform({assigned(g, v, reversed)});
  Array expected({4, 4});
  for_each_index(expected.shape, [&](const Index& i) { expected.at(i) = initial.at({3 - i.at(1), 3 - i.at(0)}); });
  CHECK_ARRAY(session.run(v), expected);
  session.perform({assigned(g, v, v)});
  CHECK_ARRAY(session.run(v), expected);
  MPSGraphTensor* product = matmul(g, v, v);
  session.perform({assigned(g, v, product)});
  Array squared({4, 4});
  for_each_index({4, 4, 4}, [&](const Index& i) {
    squared.at({i.at(0), i.at(1)}) += expected.at({i.at(0), i.at(2)}) * expected.at({i.at(2), i.at(1)});
  });
  CHECK_ARRAY(session.run(v), squared);
  // Each row minus the sum over all rows: every element of the old value is needed until the last new one is
  // made.
  MPSGraphTensor* total = [g reductionSumWithTensor:v axis:0 name:nil];
  session.perform({assigned(g, v, minus(g, v, total))});
  const Array sums = sum_over(squared, {0});
  CHECK_ARRAY(session.run(v), map(squared, sums, [](double a, double s) { return a - s; }));
}

TEST(state_belongs_to_its_graph) {
  Session one, other;
  MPSGraphTensor *a = variable(one.graph(), Array({1}, 1.0)), *b = variable(other.graph(), Array({1}, 1.0));
  MPSGraphOperation* step = assigned(one.graph(), a, plus(one.graph(), a, a));
  for (int i = 0; i < 3; ++i) one.perform({step});
  CHECK(one.value(a) == 8 && other.value(b) == 1);
}

// Assign, then read under a control dependency: the value is there, and no gradient flows back through it.
TEST(stop_gradient) {
  Session session;
  MPSGraph* g = session.graph();
  const Array x = random_array({3, 4}), w = random_array({4});
  MPSGraphTensor *tx = session.feed(x), *tw = session.feed(w);
  MPSGraphTensor* product = times(g, tx, tw);
  MPSGraphTensor* kept = variable(g, Array({3, 4}, 99.0));
  MPSGraphOperation* assign = assigned(g, kept, product);
  MPSGraphTensor* constant_part = first(after(g, assign, [&] { return list(read(g, kept)); }));
  // loss = sum(stop(x w) * x): without the stop d/dx would be 2 x w.
  MPSGraphTensor* loss = total_of(g, times(g, constant_part, tx));
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

TEST(gradients_reach_a_variable_through_both_kinds_of_read) {
  Session session;
  MPSGraph* g = session.graph();
  const Array v = random_array({3}), x = random_array({3}), y = random_array({3});
  MPSGraphTensor* tv = variable(g, v);
  MPSGraphTensor* direct = times(g, tv, session.feed(x));
  MPSGraphTensor* explicitly = times(g, read(g, tv), session.feed(y));
  MPSGraphTensor* loss = total_of(g, plus(g, direct, explicitly));
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:list(tv) name:nil];
  CHECK_ARRAY(session.run(static_cast<MPSGraphTensor*>([gradients objectForKey:tv])),
              map(x, y, [](double a, double b) { return a + b; }));
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
TEST(a_variable_begins_with_a_constant) {
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
  session.perform({assigned(g, v, next)});
  CHECK_ARRAY(session.run(v), map(x, [](double a) { return a + 1; }));
  CHECK_ARRAY(session.run(ones), Array({2, 3}, 1));
  CHECK_RAISES([g variableFromTensorWithTensor:next name:nil]);
  CHECK_RAISES([g variableFromTensorWithTensor:session.feed(x) name:nil]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
