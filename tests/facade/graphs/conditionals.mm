// ifWithPredicateTensor: which branch runs, what it may use, its writes, and gradients through it.

#include "control_flow.h"

// Predicates of every type and shape that programs use.
TEST(the_predicate_chooses) {
  for (MPSDataType type : {MPSDataTypeBool, MPSDataTypeInt32}) {
    for (const Shape& shape : {Shape{1}, Shape{}, Shape{1, 1}}) {
      Session session;
      MPSGraph* g = session.graph();
      const Array a = random_array({2, 3}), b = random_array({3});
      MPSGraphTensor *predicate = session.feed(Array(shape, 0, type)), *ta = session.feed(a), *tb = session.feed(b);
      int built = 0;
      auto yes = [&] { return ++built, list(minus(g, ta, tb), times(g, ta, scalar(g, 2))); };
      NSArray* results = choose(g, predicate, yes, [&] { return ++built, list(plus(g, ta, tb), ta); });
      CHECK(built == 2 && [results count] == 2);
      MPSGraphTensor *either = first(results), *second = [results objectAtIndex:1];
      CHECK(shape_of([either shape]) == Shape({2, 3}) && [either dataType] == MPSDataTypeFloat32);
      for (int taken : {1, 0, 1, 1, 0}) {
        session.set(predicate, Array(shape, taken, type));
        const std::vector<Array> got = session.run({second, either});
        CHECK_ARRAY(got.at(1), map(a, b, [taken](double u, double v) { return taken != 0 ? u - v : u + v; }));
        CHECK_ARRAY(got.at(0), map(a, [taken](double u) { return taken != 0 ? 2 * u : u; }));
      }
    }
  }
}

TEST(a_computed_predicate_and_results_used_further) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(Array({3}, {1, 2, 3}));
  MPSGraphTensor* sum = total_of(g, x);
  MPSGraphTensor* is_large = [g greaterThanWithPrimaryTensor:sum secondaryTensor:scalar(g, 10) name:nil];
  NSArray* results = choose(
      g, is_large, [&] { return list([g negativeWithTensor:x name:nil]); },
      [&] { return list([g squareWithTensor:x name:nil]); });
  MPSGraphTensor* y = plus(g, first(results), x);
  CHECK_ARRAY(session.run(y), Array({3}, {2, 6, 12}));
  session.set(x, Array({3}, {10, 2, 3}));
  CHECK_ARRAY(session.run(y), Array({3}, {0, 0, 0}));
}

TEST(only_the_taken_branch_writes) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 10.0));
  auto yes = [&] { return after(g, assigned(g, a, plus(g, a, scalar(g, 1))), [&] { return list(read(g, a)); }); };
  auto no = [&] {
    assigned(g, b, times(g, b, scalar(g, 2)));
    return list(plus(g, b, scalar(g, 0.5)));
  };
  NSArray* results = choose(g, predicate, yes, no);
  MPSGraphTensor* result = first(results);
  session.set(predicate, flag(1));
  CHECK(session.value(result) == 2);
  CHECK(session.value(a) == 2 && session.value(b) == 10);
  CHECK(session.value(result) == 3);
  session.set(predicate, flag(0));
  CHECK(session.value(result) == 10.5);
  CHECK(session.value(a) == 3 && session.value(b) == 20);
  CHECK(session.value(result) == 20.5);
  CHECK(session.value(a) == 3 && session.value(b) == 40);
}

TEST(reads_around_a_conditional_write) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool), *state = variable(g, Array({1}, 5.0));
  MPSGraphTensor* hundred = [g constantWithScalar:100 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphOperation* write = assigned(g, state, hundred);
  auto yes = [&] {
    MPSGraphTensor* seen = read(g, state);
    assigned(g, state, plus(g, seen, state));
    return list(seen);
  };
  NSArray* results = choose(g, predicate, yes, [&] { return list(state); });
  MPSGraphTensor* seen = first(results);
  MPSGraphTensor* after = read(g, state);
  session.set(predicate, flag(1));
  std::vector<Array> got = session.run({seen, after, state}, list(write));
  CHECK(got.at(0).values.front() == 100 && got.at(1).values.front() == 105 && got.at(2).values.front() == 5);
  CHECK(session.value(state) == 105);
  session.set(predicate, flag(0));
  got = session.run({seen, after, state}, list(write));
  CHECK(got.at(0).values.front() == 105 && got.at(1).values.front() == 100 && got.at(2).values.front() == 105);
  CHECK(session.value(state) == 100);
}

TEST(conditionals_nest) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *outer = placeholder(g, {1}, MPSDataTypeBool), *inner = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({4});
  MPSGraphTensor* tx = session.feed(x);
  MPSGraphTensor* shared = [g tanhWithTensor:tx name:nil];
  auto yes = [&] {
    MPSGraphTensor* local = times(g, shared, scalar(g, 2));
    NSArray* chosen =
        choose(g, inner, [&] { return list(plus(g, local, tx)); }, [&] { return list(minus(g, local, tx)); });
    return list(plus(g, first(chosen), local));
  };
  NSArray* results = choose(g, outer, yes, [&] { return list(shared); });
  MPSGraphTensor* y = first(results);
  for (int o : {0, 1}) {
    for (int i : {0, 1}) {
      session.set(outer, flag(o));
      session.set(inner, flag(i));
      CHECK_ARRAY(session.run(y),
                  map(x, [o, i](double v) { return o == 0 ? std::tanh(v) : 4 * std::tanh(v) + (i != 0 ? v : -v); }));
    }
  }
}

// Training and inference in one graph, as the branch of a layer: gradients flow through the branch that runs.
TEST(gradients_flow_through_the_taken_branch) {
  for (int taken : {0, 1}) {
    const Build build = [taken](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *a = t.at(0), *b = t.at(1);
      MPSGraphTensor* predicate = [g constantWithScalar:taken shape:numbers({1}) dataType:MPSDataTypeBool];
      NSArray* results = choose(
          g, predicate, [&] { return list(times(g, [g squareWithTensor:a name:nil], b)); },
          [&] { return list(minus(g, b, a)); });
      return times(g, first(results), a);
    };
    CHECK_GRADIENTS(build, {random_array({2, 3}), random_array({2, 3})});
    CHECK_GRADIENTS(build, {random_array({2, 3}), random_array({3})});
  }
}

// A gradient whose branch is chosen at run time, of a variable, with a step inside the same run.
TEST(one_graph_trains_or_predicts) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* training = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({4, 3}), w = random_array({3});
  MPSGraphTensor *tx = session.feed(x), *tw = variable(g, w);
  NSArray* results = choose(
      g, training, [&] { return list([g squareWithTensor:times(g, tx, tw) name:nil]); },
      [&] { return list(times(g, tx, tw)); });
  MPSGraphTensor* loss = total_of(g, first(results));
  MPSGraphTensor* gradient = gradient_of(g, loss, tw);
  for (int taken : {1, 0, 1}) {
    session.set(training, flag(taken));
    const Array expected = taken != 0 ? map(x, w, [](double u, double v) { return 2 * u * u * v; }) : x;
    CHECK_ARRAY(session.run(gradient), sum_to(expected, {3}));
  }
}

static MPSGraphTensor* constant_flag(MPSGraph* g, int value) {
  return [g constantWithScalar:value shape:numbers({1}) dataType:MPSDataTypeBool];
}

// What a branch gives need not be computed in it, nor only once.
TEST(results_of_every_kind) {
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
  NSArray* results = choose(g, predicate, yes, no);
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

TEST(gradients_cross_nested_conditionals) {
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
          NSArray* chosen = choose(g, constant_flag(g, inner), deep, shallow);
          MPSGraphTensor *first = [chosen objectAtIndex:0], *second = [chosen objectAtIndex:1];
          return list(plus(g, times(g, first, local), second), second, second);
        };
        auto no = [&] { return list(shared, a, times(g, shared, shared)); };
        NSArray* results = choose(g, constant_flag(g, outer), yes, no);
        MPSGraphTensor* product = times(g, first(results), [results objectAtIndex:1]);
        return plus(g, product, [results objectAtIndex:2]);
      };
      CHECK_GRADIENTS(build, {random_array({2, 3}, -1, 1), random_array({2, 3}, -1, 1)});
    }
  }
}

// The gradient is a conditional too, and has a gradient.
TEST(gradients_of_second_order) {
  for (int taken : {0, 1}) {
    const Build build = [taken](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      MPSGraphTensor *a = t.at(0), *b = t.at(1);
      auto yes = [&] { return list(times(g, [g tanhWithTensor:times(g, a, a) name:nil], b)); };
      auto no = [&] { return list(times(g, [g exponentWithTensor:b name:nil], a)); };
      MPSGraphTensor* y = times(g, [choose(g, constant_flag(g, taken), yes, no) objectAtIndex:0], a);
      NSDictionary* first = [g gradientForPrimaryTensor:y withTensors:list(a, b) name:nil];
      return plus(g, times(g, [first objectForKey:a], b), [first objectForKey:b]);
    };
    CHECK_GRADIENTS(build, {random_array({2, 3}, -1, 1), random_array({2, 3}, -1, 1)});
  }
}

TEST(gradients_with_a_length_that_only_the_run_knows) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeBool), *x = placeholder(g, {-1, 3});
  const Array w = random_array({3, 2}, -1, 1);
  MPSGraphTensor* tw = variable(g, w);
  auto product = [&] { return matmul(g, x, tw); };
  NSArray* results = choose(
      g, predicate, [&] { return list([g tanhWithTensor:product() name:nil]); },
      [&] { return list(times(g, product(), scalar(g, 2))); });
  MPSGraphTensor* y = first(results);
  MPSGraphTensor* gradient = gradient_of(g, y, tw);
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
TEST(differentiating_leaves_a_conditional_as_it_is) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({3});
  MPSGraphTensor* tx = session.feed(x);
  NSArray* results = choose(
      g, predicate, [&] { return list(times(g, [g tanhWithTensor:tx name:nil], tx)); },
      [&] { return list([g exponentWithTensor:times(g, tx, tx) name:nil]); });
  MPSGraphTensor* y = first(results);
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

TEST(conditionals_in_a_row_hand_on_their_state) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *p = placeholder(g, {1}, MPSDataTypeBool), *q = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor* state = variable(g, Array({1}, 1.0));
  auto multiply = [&](MPSGraphTensor* predicate, double factor) {
    auto yes = [&] {
      MPSGraphTensor* seen = read(g, state);
      assigned(g, state, times(g, seen, scalar(g, factor)));
      return list(seen);
    };
    NSArray* results = choose(g, predicate, yes, [&] { return list(read(g, state)); });
    return static_cast<MPSGraphTensor*>(first(results));
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
      CHECK(session.value(state) == value);
    }
  }
}

// Whoever runs the conditional runs what it depends on; whoever depends on it runs the branch that is taken.
TEST(conditionals_and_control_dependencies) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 100.0));
  MPSGraphOperation* count = assigned(g, a, plus(g, a, scalar(g, 1)));
  auto yes = [&]() -> NSArray* {
    MPSGraphTensor* seen = read(g, a);
    MPSGraphOperation* write = assigned(g, b, plus(g, seen, scalar(g, 0.5)));
    return after(g, write, [&] { return list(plus(g, read(g, b), seen)); });
  };
  MPSGraphTensor* result = first(after(g, count, [&] { return choose(g, predicate, yes, [&] { return list(a); }); }));
  MPSGraphTensor* afterwards = first(after(g, [result operation], [&] { return list(read(g, b)); }));
  session.set(predicate, flag(1));
  CHECK(session.value(result) == 4.5);
  CHECK(session.value(a) == 2 && session.value(b) == 2.5);
  session.set(predicate, flag(0));
  CHECK(session.value(result) == 2);
  CHECK(session.value(a) == 3 && session.value(b) == 2.5);
  session.set(predicate, flag(1));
  CHECK(session.value(afterwards) == 4.5);
  CHECK(session.value(a) == 4 && session.value(b) == 4.5);
  session.perform({[result operation]});
  CHECK(session.value(a) == 5 && session.value(b) == 5.5);
}

// Both branches write, the gradient updates, and everything reads the values from before the step.
TEST(a_step_through_branches_that_write) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* predicate = placeholder(g, {1}, MPSDataTypeBool);
  const Array x = random_array({2});
  Array w = random_array({2}), m = random_array({2});
  MPSGraphTensor *tx = session.feed(x), *tw = variable(g, w), *tm = variable(g, m);
  auto writes = [&](MPSGraphTensor* value, MPSGraphTensor* result) -> NSArray* {
    return after(g, assigned(g, tm, value), [&] { return list([g identityWithTensor:result name:nil]); });
  };
  auto yes = [&] {
    MPSGraphTensor* y = times(g, tw, tx);
    return writes(plus(g, tm, y), times(g, y, y));
  };
  NSArray* results = choose(g, predicate, yes, [&] { return writes(times(g, tm, scalar(g, 0.5)), times(g, tw, tm)); });
  MPSGraphTensor* y = first(results);
  MPSGraphTensor* gradient = gradient_of(g, y, tw);
  MPSGraphTensor* updated = descended(g, scalar(g, 0.125), tw, gradient);
  NSArray* step = list(assigned(g, tw, updated));
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
TEST(a_conditional_without_results) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *predicate = placeholder(g, {1}, MPSDataTypeInt32), *state = variable(g, Array({2}, {1, 2}));
  __block MPSGraphOperation* inside = nil;
  NSArray* results = [g ifWithPredicateTensor:predicate
                                    thenBlock:^{
                                      inside = assigned(g, state, times(g, state, scalar(g, 3)));
                                      return [NSArray array];
                                    }
                                    elseBlock:nil
                                         name:@"maybe"];
  CHECK([results count] == 0 && inside != nil);
  MPSGraphTensor* seen = read(g, state);
  session.set(predicate, Array({1}, 1, MPSDataTypeInt32));
  CHECK_ARRAY(session.run(seen), Array({2}, {1, 2}));
}

TEST(branches_that_do_not_fit_raise) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(random_array({3})), *integers = placeholder(g, {3}, MPSDataTypeInt32);
  MPSGraphTensor* predicate = [g constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
  MPSGraphTensor* many = [g constantWithScalar:1 shape:numbers({2}) dataType:MPSDataTypeBool];
  auto build = [&](MPSGraphTensor* chooser, NSArray* yes, NSArray* no) {
    choose(g, chooser, [&] { return yes; }, [&] { return no; });
  };
  build(predicate, list(x), list(x));
  id nothing = nil;
  CHECK_RAISES(build(nothing, list(x), list(x)));
  CHECK_RAISES(build(many, list(x), list(x)));
  CHECK_RAISES(build(predicate, list(x), [NSArray array]));
  CHECK_RAISES(build(predicate, list(x), list(integers)));
  CHECK_RAISES(build(predicate, list(x), list([g reshapeTensor:x withShape:numbers({1, 3}) name:nil])));
  CHECK_RAISES(choose(
      g, predicate, [&] { return list([g reductionSumWithTensor:x axis:5 name:nil]); }, [&] { return list(x); }));
  // The graph is open at its top again, and works.
  MPSGraphTensor* y = [g squareWithTensor:x name:nil];
  const Array value = read_array([session.feeds() objectForKey:x]);
  CHECK_ARRAY(session.run(y), map(value, [](double v) { return v * v; }));
  // A tensor of a branch cannot be used outside.
  MPSGraphTensor* hidden = nil;
  choose(g, predicate, [&] { return list(hidden = [g negativeWithTensor:x name:nil]); }, [&] { return list(x); });
  CHECK_RAISES(session.run(plus(g, hidden, x)));
  CHECK_ARRAY(session.run(y), map(value, [](double v) { return v * v; }));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
