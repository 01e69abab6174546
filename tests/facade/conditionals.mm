// ifWithPredicateTensor: which branch runs, what it may use, its writes, and gradients through it.

#include "graph_testing.h"

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

static MPSGraphTensor* scalar(MPSGraph* g, double value) {
  return [g constantWithScalar:value dataType:MPSDataTypeFloat32];
}

static MPSGraphTensor* plus(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static MPSGraphTensor* minus(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static MPSGraphTensor* times(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

using Tensors = NSArray<MPSGraphTensor*>*;

static double value_of(Session& session, MPSGraphTensor* tensor) { return session.run(tensor).values.front(); }

// Predicates of every type and shape that programs use.
static void the_predicate_chooses() {
  for (MPSDataType type : {MPSDataTypeBool, MPSDataTypeInt32}) {
    for (const Shape& shape : {Shape{1}, Shape{}, Shape{1, 1}}) {
      Session session;
      MPSGraph* g = session.graph();
      const Array a = random_array({2, 3}), b = random_array({3});
      MPSGraphTensor *predicate = session.feed(Array(shape, 0, type)), *ta = session.feed(a), *tb = session.feed(b);
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
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(Array({3}, {1, 2, 3}));
  MPSGraphTensor* sum = [g reductionSumWithTensor:x axes:nil name:nil];
  MPSGraphTensor* is_large = [g greaterThanWithPrimaryTensor:sum secondaryTensor:scalar(g, 10) name:nil];
  Tensors results = [g ifWithPredicateTensor:is_large
      thenBlock:^{
        return list([g negativeWithTensor:x name:nil]);
      }
      elseBlock:^{
        return list([g squareWithTensor:x name:nil]);
      }
      name:nil];
  MPSGraphTensor* y = plus(g, [results objectAtIndex:0], x);
  CHECK_ARRAY(session.run(y), Array({3}, {2, 6, 12}));
  session.set(x, Array({3}, {10, 2, 3}));
  CHECK_ARRAY(session.run(y), Array({3}, {0, 0, 0}));
}

static void only_the_taken_branch_writes() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 10.0));
  Tensors results = [g ifWithPredicateTensor:predicate
      thenBlock:^{
        MPSGraphOperation* write = [g assignVariable:a withValueOfTensor:plus(g, a, scalar(g, 1)) name:nil];
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
  MPSGraphTensor* result = [results objectAtIndex:0];
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
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool), *state = variable(g, Array({1}, 5.0));
  MPSGraphTensor* hundred = [g constantWithScalar:100 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphOperation* first = [g assignVariable:state withValueOfTensor:hundred name:nil];
  Tensors results = [g ifWithPredicateTensor:predicate
      thenBlock:^{
        MPSGraphTensor* seen = [g readVariable:state name:nil];
        [g assignVariable:state withValueOfTensor:plus(g, seen, state) name:nil];
        return list(seen);
      }
      elseBlock:^{
        return list(state);
      }
      name:nil];
  MPSGraphTensor* seen = [results objectAtIndex:0];
  MPSGraphTensor* after = [g readVariable:state name:nil];
  session.set(predicate, Array({1}, 1, MPSDataTypeBool));
  std::vector<Array> got = session.run({seen, after, state}, list(first));
  CHECK(got.at(0).values.front() == 100 && got.at(1).values.front() == 105 && got.at(2).values.front() == 5);
  CHECK(value_of(session, state) == 105);
  session.set(predicate, Array({1}, 0, MPSDataTypeBool));
  got = session.run({seen, after, state}, list(first));
  CHECK(got.at(0).values.front() == 105 && got.at(1).values.front() == 100 && got.at(2).values.front() == 105);
  CHECK(value_of(session, state) == 100);
}

static void conditionals_nest() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *outer = placeholder(g, {1}, MPSDataTypeBool), *inner = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({4});
  MPSGraphTensor* tx = session.feed(x);
  MPSGraphTensor* shared = [g tanhWithTensor:tx name:nil];
  Tensors results = [g ifWithPredicateTensor:outer
      thenBlock:^{
        MPSGraphTensor* local = times(g, shared, scalar(g, 2));
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
  MPSGraphTensor* y = [results objectAtIndex:0];
  for (int o : {0, 1}) {
    for (int i : {0, 1}) {
      session.set(outer, Array({1}, o, MPSDataTypeBool));
      session.set(inner, Array({1}, i, MPSDataTypeBool));
      CHECK_ARRAY(session.run(y),
                  map(x, [o, i](double v) { return o == 0 ? std::tanh(v) : 4 * std::tanh(v) + (i != 0 ? v : -v); }));
    }
  }
}

// Training and inference in one graph, as the branch of a layer: gradients flow through the branch that runs.
static void gradients_flow_through_the_taken_branch() {
  for (int taken : {0, 1}) {
    const Build build = [taken](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *a = t.at(0), *b = t.at(1);
      MPSGraphTensor* predicate = [g constantWithScalar:taken shape:numbers({1}) dataType:MPSDataTypeBool];
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
  MPSGraph* g = session.graph();
  MPSGraphTensor* training = placeholder(g, {1}, MPSDataTypeBool);
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
  MPSGraphTensor* loss = [g reductionSumWithTensor:[results objectAtIndex:0] axes:nil name:nil];
  MPSGraphTensor* gradient = [[g gradientForPrimaryTensor:loss withTensors:list(tw) name:nil] objectForKey:tw];
  for (int taken : {1, 0, 1}) {
    session.set(training, Array({1}, taken, MPSDataTypeBool));
    const Array expected = taken != 0 ? map(x, w, [](double u, double v) { return 2 * u * u * v; }) : x;
    CHECK_ARRAY(session.run(gradient), sum_to(expected, {3}));
  }
}

// A conditional from two functions that build its branches.
static Tensors choose(MPSGraph* g, MPSGraphTensor* predicate, const std::function<Tensors()>& yes,
                      const std::function<Tensors()>& no) {
  return [g ifWithPredicateTensor:predicate
      thenBlock:^{
        return yes();
      }
      elseBlock:^{
        return no();
      }
      name:nil];
}

static MPSGraphTensor* constant_flag(MPSGraph* g, int value) {
  return [g constantWithScalar:value shape:numbers({1}) dataType:MPSDataTypeBool];
}

static Array flag(int value) { return Array({1}, value, MPSDataTypeBool); }

static Tensors list(MPSGraphTensor* a, MPSGraphTensor* b, MPSGraphTensor* c) {
  return [NSArray arrayWithObjects:a, b, c, nil];
}

// What a branch gives need not be computed in it, nor only once.
static void results_of_every_kind() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *x = session.feed(Array({2}, {1, 2})), *state = variable(g, Array({2}, {5, 6}));
  MPSGraphTensor *fixed = constant(g, Array({2}, {9, 10})), *square = [g squareWithTensor:x name:nil];
  auto yes = [&] {
    MPSGraphTensor* negative = [g negativeWithTensor:x name:nil];
    MPSGraphTensor* same = [g reshapeTensor:negative withShape:numbers({2}) name:nil];
    return [NSArray arrayWithObjects:x, state, fixed, negative, negative, square, same, nil];
  };
  auto no = [&] {
    MPSGraphTensor* inner = constant(g, Array({2}, {20, 21}));
    return [NSArray arrayWithObjects:fixed, x, state, state, inner, inner, x, nil];
  };
  Tensors results = choose(g, predicate, yes, no);
  const Array a({2}, {1, 2}), b({2}, {5, 6}), c({2}, {9, 10});
  const Array d({2}, {20, 21}), e({2}, {-1, -2}), f({2}, {1, 4});
  const std::vector<Array> expected[] = {{c, a, b, b, d, d, a}, {a, b, c, e, e, f, e}};
  std::vector<MPSGraphTensor*> targets;
  for (MPSGraphTensor* result in results) targets.push_back(result);
  targets.push_back(square);
  for (int taken : {0, 1, 0, 1}) {
    session.set(predicate, flag(taken));
    const std::vector<Array> together = session.run(targets);
    CHECK_ARRAY(together.back(), f);
    for (size_t i = 0; i < expected[taken].size(); ++i) {
      CHECK_ARRAY(together.at(i), expected[taken].at(i));
      CHECK_ARRAY(session.run(targets.at(i)), expected[taken].at(i));
    }
  }
}

static void gradients_cross_nested_conditionals() {
  for (int outer : {0, 1}) {
    for (int inner : {0, 1}) {
      const Build build = [outer, inner](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        MPSGraphTensor *a = t.at(0), *b = t.at(1);
        MPSGraphTensor* shared = [g tanhWithTensor:times(g, a, b) name:nil];
        auto yes = [&] {
          MPSGraphTensor* local = times(g, shared, [g squareWithTensor:a name:nil]);
          auto deep = [&] {
            MPSGraphTensor* product = times(g, local, [g sigmoidWithTensor:b name:nil]);
            return list(times(g, product, product), local, b);
          };
          auto shallow = [&] { return list(minus(g, local, a), shared, a); };
          Tensors chosen = choose(g, constant_flag(g, inner), deep, shallow);
          MPSGraphTensor *first = [chosen objectAtIndex:0], *second = [chosen objectAtIndex:1];
          return list(plus(g, times(g, first, local), second), second, second);
        };
        auto no = [&] { return list(shared, a, times(g, shared, shared)); };
        Tensors results = choose(g, constant_flag(g, outer), yes, no);
        MPSGraphTensor* product = times(g, [results objectAtIndex:0], [results objectAtIndex:1]);
        return plus(g, product, [results objectAtIndex:2]);
      };
      CHECK_GRADIENTS(build, {random_array({2, 3}, -1, 1), random_array({2, 3}, -1, 1)});
    }
  }
}

// The gradient is a conditional too, and has a gradient.
static void gradients_of_second_order() {
  for (int taken : {0, 1}) {
    const Build build = [taken](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *a = t.at(0), *b = t.at(1);
      auto yes = [&] { return list(times(g, [g tanhWithTensor:times(g, a, a) name:nil], b)); };
      auto no = [&] { return list(times(g, [g exponentWithTensor:b name:nil], a)); };
      MPSGraphTensor* y = times(g, [choose(g, constant_flag(g, taken), yes, no) objectAtIndex:0], a);
      NSDictionary* first = [g gradientForPrimaryTensor:y withTensors:[NSArray arrayWithObjects:a, b, nil] name:nil];
      return plus(g, times(g, [first objectForKey:a], b), [first objectForKey:b]);
    };
    CHECK_GRADIENTS(build, {random_array({2, 3}, -1, 1), random_array({2, 3}, -1, 1)});
  }
}

// Ops whose gradients want the shape of what the branch computed, and its values.
static void gradients_of_layers_in_branches() {
  MPSGraphConvolution2DOpDescriptor* convolution =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                       strideInY:2
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:1
                                                    paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  MPSGraphPooling2DOpDescriptor* pooling =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:2
                                                     strideInX:2
                                                     strideInY:2
                                                  paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  for (int taken : {0, 1}) {
    const Build build = [=](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *x = t.at(0), *w = t.at(1), *m = t.at(2);
      auto rows = [&](MPSGraphTensor* source, MPSGraphTensor* weights) {
        MPSGraphTensor* y = [g convolution2DWithSourceTensor:source
                                               weightsTensor:weights
                                                  descriptor:convolution
                                                        name:nil];
        y = [g avgPooling2DWithSourceTensor:[g tanhWithTensor:y name:nil] descriptor:pooling name:nil];
        return [g reshapeTensor:y withShape:numbers({2, -1}) name:nil];
      };
      auto yes = [&] {
        MPSGraphTensor* y = rows([g squareWithTensor:x name:nil], [g sigmoidWithTensor:w name:nil]);
        y = [g matrixMultiplicationWithPrimaryTensor:y secondaryTensor:m name:nil];
        return list([g softMaxWithTensor:y axis:-1 name:nil]);
      };
      auto no = [&] {
        MPSGraphTensor* y = rows(x, w);
        MPSGraphTensor* left = [g sliceTensor:y dimension:1 start:0 length:2 name:nil];
        MPSGraphTensor* right = [g sliceTensor:y dimension:1 start:2 length:2 name:nil];
        y = [g concatTensors:[NSArray arrayWithObjects:right, left, nil] dimension:1 name:nil];
        return list([g matrixMultiplicationWithPrimaryTensor:y secondaryTensor:m name:nil]);
      };
      return static_cast<MPSGraphTensor*>([choose(g, constant_flag(g, taken), yes, no) objectAtIndex:0]);
    };
    CHECK_GRADIENTS(
        build, {random_array({2, 4, 4, 2}, -1, 1), random_array({3, 3, 2, 2}, -1, 1), random_array({4, 3}, -1, 1)});
  }
}

// Batch normalisation by a flag: with the statistics of the batch, or with moving averages.
static void gradients_of_batch_normalisation() {
  for (int training : {0, 1}) {
    const Build build = [training](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *gamma = t.at(1), *beta = t.at(2);
      MPSGraphTensor* average = variable(g, Array({1, 1, 1, 3}, 0.25));
      MPSGraphTensor* spread = variable(g, Array({1, 1, 1, 3}, 2.0));
      auto layer = [&](MPSGraphTensor* x) {
        auto normalized = [&](MPSGraphTensor* mean, MPSGraphTensor* variance) {
          return list([g normalizationWithTensor:x
                                      meanTensor:mean
                                  varianceTensor:variance
                                     gammaTensor:gamma
                                      betaTensor:beta
                                         epsilon:0.001f
                                            name:nil]);
        };
        auto with_batch = [&]() -> Tensors {
          MPSGraphTensor* mean = [g meanOfTensor:x axes:numbers({0, 1, 2}) name:nil];
          MPSGraphTensor* variance = [g varianceOfTensor:x meanTensor:mean axes:numbers({0, 1, 2}) name:nil];
          auto move = [&](MPSGraphTensor* state, MPSGraphTensor* by) {
            return [g assignVariable:state withValueOfTensor:plus(g, state, by) name:nil];
          };
          NSArray* moves = [NSArray arrayWithObjects:move(average, mean), move(spread, variance), nil];
          return [g controlDependencyWithOperations:moves
                                     dependentBlock:^{
                                       return normalized(mean, variance);
                                     }
                                               name:nil];
        };
        return choose(g, constant_flag(g, training), with_batch, [&] { return normalized(average, spread); });
      };
      MPSGraphTensor* y = [layer(times(g, t.at(0), t.at(0))) objectAtIndex:0];
      return static_cast<MPSGraphTensor*>([layer([g tanhWithTensor:y name:nil]) objectAtIndex:0]);
    };
    CHECK_GRADIENTS(build, {signed_array({2, 3, 2, 3}), random_array({3}, 0.5, 1.5), random_array({3}, -1, 1)});
  }
}

static void gradients_with_a_length_that_only_the_run_knows() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool), *x = placeholder(g, {-1, 3});
  const Array w = random_array({3, 2}, -1, 1);
  MPSGraphTensor* tw = variable(g, w);
  auto product = [&] { return [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:tw name:nil]; };
  Tensors results = choose(
      g, predicate, [&] { return list([g tanhWithTensor:product() name:nil]); },
      [&] { return list(times(g, product(), scalar(g, 2))); });
  MPSGraphTensor* y = [results objectAtIndex:0];
  MPSGraphTensor* gradient = [[g gradientForPrimaryTensor:y withTensors:list(tw) name:nil] objectForKey:tw];
  for (long n : {1, 5, 3}) {
    for (int taken : {0, 1}) {
      const Array rows = random_array({n, 3}, -1, 1);
      session.set(x, rows);
      session.set(predicate, flag(taken));
      Array expected({3, 2});
      for_each_index({n, 2}, [&](const Index& i) {
        double sum = 0;
        for (long k = 0; k < 3; ++k) sum += rows.at({i.at(0), k}) * w.at({k, i.at(1)});
        const double slope = taken != 0 ? 1 - std::tanh(sum) * std::tanh(sum) : 2;
        for (long k = 0; k < 3; ++k) expected.at({k, i.at(1)}) += slope * rows.at({i.at(0), k});
      });
      CHECK_ARRAY(session.run(gradient), expected);
    }
  }
}

// What a gradient uses of a branch travels unseen.
static void differentiating_leaves_a_conditional_as_it_is() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({3});
  MPSGraphTensor* tx = session.feed(x);
  Tensors results = choose(
      g, predicate, [&] { return list(times(g, [g tanhWithTensor:tx name:nil], tx)); },
      [&] { return list([g exponentWithTensor:times(g, tx, tx) name:nil]); });
  MPSGraphTensor* y = [results objectAtIndex:0];
  for (MPSGraphTensor* primary : {y, times(g, y, y)}) {
    NSDictionary* gradients = [g gradientForPrimaryTensor:primary withTensors:list(tx) name:nil];
    CHECK([[[y operation] outputTensors] isEqual:results]);
    for (int taken : {0, 1}) {
      session.set(predicate, flag(taken));
      const std::vector<Array> got = session.run({[gradients objectForKey:tx], y});
      const bool squared = primary != y;
      auto value = [taken](double v) { return taken != 0 ? std::tanh(v) * v : std::exp(v * v); };
      CHECK_ARRAY(got.at(1), map(x, value));
      CHECK_ARRAY_WITHIN(1e-4, got.at(0), map(x, [&](double v) {
                           const double t = std::tanh(v), slope = taken != 0 ? t + v * (1 - t * t) : 2 * v * value(v);
                           return squared ? 2 * value(v) * slope : slope;
                         }));
    }
  }
}

static void conditionals_in_a_row_hand_on_their_state() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *p = placeholder(g, {1}, MPSDataTypeBool), *q = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor* state = variable(g, Array({1}, 1.0));
  auto multiply = [&](MPSGraphTensor* predicate, double factor) {
    auto yes = [&] {
      MPSGraphTensor* seen = [g readVariable:state name:nil];
      [g assignVariable:state withValueOfTensor:times(g, seen, scalar(g, factor)) name:nil];
      return list(seen);
    };
    Tensors results = choose(g, predicate, yes, [&] { return list([g readVariable:state name:nil]); });
    return static_cast<MPSGraphTensor*>([results objectAtIndex:0]);
  };
  MPSGraphTensor *a = multiply(p, 2), *b = multiply(q, 3), *c = multiply(p, 5);
  double value = 1;
  for (int first : {0, 1}) {
    for (int second : {0, 1}) {
      session.set(p, flag(first));
      session.set(q, flag(second));
      const double after_a = value * (first != 0 ? 2 : 1), after_b = after_a * (second != 0 ? 3 : 1);
      const std::vector<Array> got = session.run({c, b, a, state});
      CHECK(got.at(2).values.front() == value && got.at(1).values.front() == after_a);
      CHECK(got.at(0).values.front() == after_b && got.at(3).values.front() == value);
      value = after_b * (first != 0 ? 5 : 1);
      CHECK(value_of(session, state) == value);
    }
  }
}

// Whoever runs the conditional runs what it depends on; whoever depends on it runs the branch that is taken.
static void conditionals_and_control_dependencies() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 100.0));
  MPSGraphOperation* count = [g assignVariable:a withValueOfTensor:plus(g, a, scalar(g, 1)) name:nil];
  auto yes = [&]() -> Tensors {
    MPSGraphTensor* seen = [g readVariable:a name:nil];
    MPSGraphOperation* write = [g assignVariable:b withValueOfTensor:plus(g, seen, scalar(g, 0.5)) name:nil];
    return [g controlDependencyWithOperations:list(write)
                               dependentBlock:^{
                                 return list(plus(g, [g readVariable:b name:nil], seen));
                               }
                                         name:nil];
  };
  Tensors counted = [g controlDependencyWithOperations:list(count)
                                        dependentBlock:^{
                                          return choose(g, predicate, yes, [&] { return list(a); });
                                        }
                                                  name:nil];
  MPSGraphTensor* result = [counted objectAtIndex:0];
  Tensors afterwards = [g controlDependencyWithOperations:list([result operation])
                                           dependentBlock:^{
                                             return list([g readVariable:b name:nil]);
                                           }
                                                     name:nil];
  session.set(predicate, flag(1));
  CHECK(value_of(session, result) == 4.5);
  CHECK(value_of(session, a) == 2 && value_of(session, b) == 2.5);
  session.set(predicate, flag(0));
  CHECK(value_of(session, result) == 2);
  CHECK(value_of(session, a) == 3 && value_of(session, b) == 2.5);
  session.set(predicate, flag(1));
  CHECK(value_of(session, [afterwards objectAtIndex:0]) == 4.5);
  CHECK(value_of(session, a) == 4 && value_of(session, b) == 4.5);
  session.perform({[result operation]});
  CHECK(value_of(session, a) == 5 && value_of(session, b) == 5.5);
}

// Both branches write, the gradient updates, and everything reads the values from before the step.
static void a_step_through_branches_that_write() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({2});
  Array w = random_array({2}), m = random_array({2});
  MPSGraphTensor *tx = session.feed(x), *tw = variable(g, w), *tm = variable(g, m);
  auto writes = [&](MPSGraphTensor* value, MPSGraphTensor* result) -> Tensors {
    return [g controlDependencyWithOperations:list([g assignVariable:tm withValueOfTensor:value name:nil])
                               dependentBlock:^{
                                 return list([g identityWithTensor:result name:nil]);
                               }
                                         name:nil];
  };
  auto yes = [&] {
    MPSGraphTensor* y = times(g, tw, tx);
    return writes(plus(g, tm, y), times(g, y, y));
  };
  Tensors results = choose(g, predicate, yes, [&] { return writes(times(g, tm, scalar(g, 0.5)), times(g, tw, tm)); });
  MPSGraphTensor* y = [results objectAtIndex:0];
  MPSGraphTensor* gradient = [[g gradientForPrimaryTensor:y withTensors:list(tw) name:nil] objectForKey:tw];
  MPSGraphTensor* updated = [g stochasticGradientDescentWithLearningRateTensor:scalar(g, 0.125)
                                                                  valuesTensor:tw
                                                                gradientTensor:gradient
                                                                          name:nil];
  NSArray* step = list([g assignVariable:tw withValueOfTensor:updated name:nil]);
  for (int taken : {1, 1, 0, 1, 0, 0}) {
    session.set(predicate, flag(taken));
    const std::vector<Array> got = session.run({y, gradient, tw, tm}, step);
    Array expected = w, slope = w, next = m;
    for (long i = 0; i < 2; ++i) {
      const double product = w.at({i}) * x.at({i});
      expected.at({i}) = taken != 0 ? product * product : w.at({i}) * m.at({i});
      slope.at({i}) = taken != 0 ? 2 * product * x.at({i}) : m.at({i});
      next.at({i}) = taken != 0 ? m.at({i}) + product : m.at({i}) / 2;
    }
    CHECK_ARRAY(got.at(0), expected);
    CHECK_ARRAY(got.at(1), slope);
    CHECK_ARRAY(got.at(2), w);
    CHECK_ARRAY(got.at(3), m);
    w = map(w, slope, [](double v, double d) { return v - 0.125 * d; });
    m = next;
    CHECK_ARRAY(session.run(tw), w);
    CHECK_ARRAY(session.run(tm), m);
  }
}

#ifndef __APPLE__
// No results and no else branch: nothing can name the conditional, so it does not run by itself.
static void a_conditional_without_results() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeInt32), *state = variable(g, Array({2}, {1, 2}));
  __block MPSGraphOperation* inside = nil;
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
  MPSGraphTensor* after = [g readVariable:state name:nil];
  session.set(predicate, Array({1}, 1, MPSDataTypeInt32));
  CHECK_ARRAY(session.run(after), Array({2}, {1, 2}));
}

static void branches_that_do_not_fit_raise() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(random_array({3})), *integers = placeholder(g, {3}, MPSDataTypeInt32);
  MPSGraphTensor* predicate = [g constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
  MPSGraphTensor* many = [g constantWithScalar:1 shape:numbers({2}) dataType:MPSDataTypeBool];
  auto build = [&](MPSGraphTensor* chooser, Tensors yes, Tensors no) {
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
  MPSGraphTensor* y = [g squareWithTensor:x name:nil];
  const Array value = read_array([session.feeds() objectForKey:x]);
  CHECK_ARRAY(session.run(y), map(value, [](double v) { return v * v; }));
  // A tensor of a branch cannot be used outside.
  __block MPSGraphTensor* hidden = nil;
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
    results_of_every_kind();
    gradients_cross_nested_conditionals();
    gradients_of_second_order();
    gradients_of_layers_in_branches();
    gradients_of_batch_normalisation();
    gradients_with_a_length_that_only_the_run_knows();
    differentiating_leaves_a_conditional_as_it_is();
    conditionals_in_a_row_hand_on_their_state();
    conditionals_and_control_dependencies();
    a_step_through_branches_that_write();
#ifndef __APPLE__
    a_conditional_without_results();
    branches_that_do_not_fit_raise();
#endif
  }
  return check::summary();
}
