// ifWithPredicateTensor: which branch runs, what it may use, its writes, and gradients through it.

#include "graph_testing.h"

static NSArray *list(id object) { return [NSArray arrayWithObject:object]; }

static MPSGraphTensor *scalar(MPSGraph *g, double value) {
  return [g constantWithScalar:value dataType:MPSDataTypeFloat32];
}

static MPSGraphTensor *plus(MPSGraph *g, MPSGraphTensor *a, MPSGraphTensor *b) {
  return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static MPSGraphTensor *minus(MPSGraph *g, MPSGraphTensor *a, MPSGraphTensor *b) {
  return [g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static MPSGraphTensor *times(MPSGraph *g, MPSGraphTensor *a, MPSGraphTensor *b) {
  return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

using Tensors = NSArray<MPSGraphTensor *> *;

static double value_of(Session &session, MPSGraphTensor *tensor) {
  return session.run(tensor).values.front();
}

// Predicates of every type and shape that programs use.
static void the_predicate_chooses() {
  for (MPSDataType type : {MPSDataTypeBool, MPSDataTypeInt32}) {
    for (const Shape &shape : {Shape{1}, Shape{}, Shape{1, 1}}) {
      Session session;
      MPSGraph *g = session.graph();
      const Array a = random_array({2, 3}), b = random_array({3});
      MPSGraphTensor *predicate = session.feed(Array(shape, 0, type)), *ta = session.feed(a),
                     *tb = session.feed(b);
      __block int built = 0;
      Tensors results = [g ifWithPredicateTensor:predicate
          thenBlock:^{
            ++built;
            return [NSArray arrayWithObjects:minus(g, ta, tb), times(g, ta, scalar(g, 2)), nil];
          }
          elseBlock:^{
            ++built;
            return [NSArray arrayWithObjects:plus(g, ta, tb), ta, nil];
          }
          name:@"choice"];
      CHECK(built == 2 && [results count] == 2);
      MPSGraphTensor *first = [results objectAtIndex:0], *second = [results objectAtIndex:1];
      CHECK(shape_of([first shape]) == Shape({2, 3}) && [first dataType] == MPSDataTypeFloat32);
      for (int taken : {1, 0, 1, 1, 0}) {
        session.set(predicate, Array(shape, taken, type));
        const std::vector<Array> got = session.run({second, first});
        CHECK_ARRAY(got.at(1), map(a, b, [taken](double u, double v) { return taken != 0 ? u - v : u + v; }));
        CHECK_ARRAY(got.at(0), map(a, [taken](double u) { return taken != 0 ? 2 * u : u; }));
      }
    }
  }
}

static void a_computed_predicate_and_results_used_further() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *x = session.feed(Array({3}, {1, 2, 3}));
  MPSGraphTensor *sum = [g reductionSumWithTensor:x axes:nil name:nil];
  MPSGraphTensor *is_large = [g greaterThanWithPrimaryTensor:sum secondaryTensor:scalar(g, 10) name:nil];
  Tensors results = [g ifWithPredicateTensor:is_large
      thenBlock:^{
        return list([g negativeWithTensor:x name:nil]);
      }
      elseBlock:^{
        return list([g squareWithTensor:x name:nil]);
      }
      name:nil];
  MPSGraphTensor *y = plus(g, [results objectAtIndex:0], x);
  CHECK_ARRAY(session.run(y), Array({3}, {2, 6, 12}));
  session.set(x, Array({3}, {10, 2, 3}));
  CHECK_ARRAY(session.run(y), Array({3}, {0, 0, 0}));
}

static void only_the_taken_branch_writes() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 10.0));
  Tensors results = [g ifWithPredicateTensor:predicate
      thenBlock:^{
        MPSGraphOperation *write = [g assignVariable:a withValueOfTensor:plus(g, a, scalar(g, 1)) name:nil];
        return [g controlDependencyWithOperations:list(write)
                                   dependentBlock:^{
                                     return list([g readVariable:a name:nil]);
                                   }
                                             name:nil];
      }
      elseBlock:^{
        [g assignVariable:b withValueOfTensor:times(g, b, scalar(g, 2)) name:nil];
        return list(plus(g, b, scalar(g, 0.5)));
      }
      name:nil];
  MPSGraphTensor *result = [results objectAtIndex:0];
  session.set(predicate, Array({1}, 1, MPSDataTypeBool));
  CHECK(value_of(session, result) == 2);
  CHECK(value_of(session, a) == 2 && value_of(session, b) == 10);
  CHECK(value_of(session, result) == 3);
  session.set(predicate, Array({1}, 0, MPSDataTypeBool));
  CHECK(value_of(session, result) == 10.5);
  CHECK(value_of(session, a) == 3 && value_of(session, b) == 20);
  CHECK(value_of(session, result) == 20.5);
  CHECK(value_of(session, a) == 3 && value_of(session, b) == 40);
}

static void reads_around_a_conditional_write() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool), *state = variable(g, Array({1}, 5.0));
  MPSGraphTensor *hundred = [g constantWithScalar:100 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphOperation *first = [g assignVariable:state withValueOfTensor:hundred name:nil];
  Tensors results = [g ifWithPredicateTensor:predicate
      thenBlock:^{
        MPSGraphTensor *seen = [g readVariable:state name:nil];
        [g assignVariable:state withValueOfTensor:plus(g, seen, state) name:nil];
        return list(seen);
      }
      elseBlock:^{
        return list(state);
      }
      name:nil];
  MPSGraphTensor *seen = [results objectAtIndex:0];
  MPSGraphTensor *after = [g readVariable:state name:nil];
  session.set(predicate, Array({1}, 1, MPSDataTypeBool));
  std::vector<Array> got = session.run({seen, after, state}, list(first));
  CHECK(got.at(0).values.front() == 100 && got.at(1).values.front() == 105 && got.at(2).values.front() == 5);
  CHECK(value_of(session, state) == 105);
  session.set(predicate, Array({1}, 0, MPSDataTypeBool));
  got = session.run({seen, after, state}, list(first));
  CHECK(got.at(0).values.front() == 105 && got.at(1).values.front() == 100 &&
        got.at(2).values.front() == 105);
  CHECK(value_of(session, state) == 100);
}

static void conditionals_nest() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *outer = placeholder(g, {1}, MPSDataTypeBool), *inner = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({4});
  MPSGraphTensor *tx = session.feed(x);
  MPSGraphTensor *shared = [g tanhWithTensor:tx name:nil];
  Tensors results = [g ifWithPredicateTensor:outer
      thenBlock:^{
        MPSGraphTensor *local = times(g, shared, scalar(g, 2));
        Tensors chosen = [g ifWithPredicateTensor:inner
            thenBlock:^{
              return list(plus(g, local, tx));
            }
            elseBlock:^{
              return list(minus(g, local, tx));
            }
            name:nil];
        return list(plus(g, [chosen objectAtIndex:0], local));
      }
      elseBlock:^{
        return list(shared);
      }
      name:nil];
  MPSGraphTensor *y = [results objectAtIndex:0];
  for (int o : {0, 1}) {
    for (int i : {0, 1}) {
      session.set(outer, Array({1}, o, MPSDataTypeBool));
      session.set(inner, Array({1}, i, MPSDataTypeBool));
      CHECK_ARRAY(session.run(y), map(x, [o, i](double v) {
                    return o == 0 ? std::tanh(v) : 4 * std::tanh(v) + (i != 0 ? v : -v);
                  }));
    }
  }
}

// Training and inference in one graph, as the branch of a layer: gradients flow through the branch that runs.
static void gradients_flow_through_the_taken_branch() {
  for (int taken : {0, 1}) {
    const Build build = [taken](MPSGraph *g, const std::vector<MPSGraphTensor *> &t) {
      MPSGraphTensor *a = t.at(0), *b = t.at(1);
      MPSGraphTensor *predicate = [g constantWithScalar:taken shape:numbers({1}) dataType:MPSDataTypeBool];
      Tensors results = [g ifWithPredicateTensor:predicate
          thenBlock:^{
            return list(times(g, [g squareWithTensor:a name:nil], b));
          }
          elseBlock:^{
            return list(minus(g, b, a));
          }
          name:nil];
      return times(g, [results objectAtIndex:0], a);
    };
    CHECK_GRADIENTS(build, {random_array({2, 3}), random_array({2, 3})});
    CHECK_GRADIENTS(build, {random_array({2, 3}), random_array({3})});
  }
}

// A gradient whose branch is chosen at run time, of a variable, with a step inside the same run.
static void one_graph_trains_or_predicts() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *training = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({4, 3}), w = random_array({3});
  MPSGraphTensor *tx = session.feed(x), *tw = variable(g, w);
  Tensors results = [g ifWithPredicateTensor:training
      thenBlock:^{
        return list([g squareWithTensor:times(g, tx, tw) name:nil]);
      }
      elseBlock:^{
        return list(times(g, tx, tw));
      }
      name:nil];
  MPSGraphTensor *loss = [g reductionSumWithTensor:[results objectAtIndex:0] axes:nil name:nil];
  MPSGraphTensor *gradient = [[g gradientForPrimaryTensor:loss withTensors:list(tw)
                                                     name:nil] objectForKey:tw];
  for (int taken : {1, 0, 1}) {
    session.set(training, Array({1}, taken, MPSDataTypeBool));
    const Array expected = taken != 0 ? map(x, w, [](double u, double v) { return 2 * u * u * v; }) : x;
    CHECK_ARRAY(session.run(gradient), sum_to(expected, {3}));
  }
}

#ifndef __APPLE__
// No results and no else branch: nothing can name the conditional, so it does not run by itself.
static void a_conditional_without_results() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeInt32), *state = variable(g, Array({2}, {1, 2}));
  __block MPSGraphOperation *inside = nil;
  Tensors results = [g ifWithPredicateTensor:predicate
                                   thenBlock:^{
                                     inside = [g assignVariable:state
                                              withValueOfTensor:times(g, state, scalar(g, 3))
                                                           name:nil];
                                     return [NSArray array];
                                   }
                                   elseBlock:nil
                                        name:@"maybe"];
  CHECK([results count] == 0 && inside != nil);
  MPSGraphTensor *after = [g readVariable:state name:nil];
  session.set(predicate, Array({1}, 1, MPSDataTypeInt32));
  CHECK_ARRAY(session.run(after), Array({2}, {1, 2}));
}

static void branches_that_do_not_fit_raise() {
  Session session;
  MPSGraph *g = session.graph();
  MPSGraphTensor *x = session.feed(random_array({3})), *integers = placeholder(g, {3}, MPSDataTypeInt32);
  MPSGraphTensor *predicate = [g constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
  MPSGraphTensor *many = [g constantWithScalar:1 shape:numbers({2}) dataType:MPSDataTypeBool];
  auto build = [&](MPSGraphTensor *chooser, Tensors yes, Tensors no) {
    [g ifWithPredicateTensor:chooser
        thenBlock:^{
          return yes;
        }
        elseBlock:^{
          return no;
        }
        name:nil];
  };
  build(predicate, list(x), list(x));
  id nothing = nil;
  CHECK_RAISES(build(nothing, list(x), list(x)));
  CHECK_RAISES(build(many, list(x), list(x)));
  CHECK_RAISES(build(predicate, list(x), [NSArray array]));
  CHECK_RAISES(build(predicate, list(x), list(integers)));
  CHECK_RAISES(build(predicate, list(x), list([g reshapeTensor:x withShape:numbers({1, 3}) name:nil])));
  CHECK_RAISES([g ifWithPredicateTensor:predicate
      thenBlock:^{
        return list([g reductionSumWithTensor:x axis:5 name:nil]);
      }
      elseBlock:^{
        return list(x);
      }
      name:nil]);
  // The graph is open at its top again, and works.
  MPSGraphTensor *y = [g squareWithTensor:x name:nil];
  const Array value = read_array([session.feeds() objectForKey:x]);
  CHECK_ARRAY(session.run(y), map(value, [](double v) { return v * v; }));
  // A tensor of a branch cannot be used outside.
  __block MPSGraphTensor *hidden = nil;
  [g ifWithPredicateTensor:predicate
      thenBlock:^{
        hidden = [g negativeWithTensor:x name:nil];
        return list(hidden);
      }
      elseBlock:^{
        return list(x);
      }
      name:nil];
  CHECK_RAISES(session.run(plus(g, hidden, x)));
  CHECK_ARRAY(session.run(y), map(value, [](double v) { return v * v; }));
}
#endif

int main() {
  @autoreleasepool {
    the_predicate_chooses();
    a_computed_predicate_and_results_used_further();
    only_the_taken_branch_writes();
    reads_around_a_conditional_write();
    conditionals_nest();
    gradients_flow_through_the_taken_branch();
    one_graph_trains_or_predicts();
#ifndef __APPLE__
    a_conditional_without_results();
    branches_that_do_not_fit_raise();
#endif
  }
  return check::summary();
}
