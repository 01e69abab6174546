// Random graphs of many small ops against the same in double precision: what a compiler folds, fuses,
// reorders or writes in place must not show, whichever of the tensors are asked for.

#include "graph_testing.h"

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

static size_t random_below(size_t n) { return static_cast<size_t>(next_random() * static_cast<double>(n)); }

enum class Kind {
  unary,
  binary,
  choose,
  reduce,
  transpose,
  reshape,
  slice,
  concat,
  broadcast,
  softmax,
  product,
  convolve
};

// One op of a graph: which earlier tensors it takes, and its numbers.
struct Step {
  Kind kind;
  size_t which;                     // the op within its kind
  size_t a, b;                      // positions of the operands
  std::vector<long> numbers, more;  // axes, a permutation, a shape, starts and ends
};

static constexpr size_t kUnary = 7, kSmoothUnary = 5;

static double unary(size_t which, double x) {
  switch (which) {
    case 0: return std::tanh(x);
    case 1: return 1 / (1 + std::exp(-x));
    case 2: return -x;
    case 3: return x * x / 4;
    case 4: return std::exp(std::tanh(x));
    case 5: return x > 0 ? x : 0;
    default: return std::fabs(x);
  }
}

static MPSGraphTensor* unary(MPSGraph* g, size_t which, MPSGraphTensor* x) {
  switch (which) {
    case 0: return [g tanhWithTensor:x name:nil];
    case 1: return [g sigmoidWithTensor:x name:nil];
    case 2: return [g negativeWithTensor:x name:nil];
    case 3:
      return [g divisionWithPrimaryTensor:[g squareWithTensor:x name:nil]
                          secondaryTensor:[g constantWithScalar:4 dataType:MPSDataTypeFloat32]
                                     name:nil];
    case 4: return [g exponentWithTensor:[g tanhWithTensor:x name:nil] name:nil];
    case 5: return [g reLUWithTensor:x name:nil];
    default: return [g absoluteWithTensor:x name:nil];
  }
}

static constexpr size_t kBinary = 5, kSmoothBinary = 3;

static double binary(size_t which, double a, double b) {
  switch (which) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return std::fmax(a, b);
    default: return std::fmin(a, b);
  }
}

static MPSGraphTensor* binary(MPSGraph* g, size_t which, MPSGraphTensor* a, MPSGraphTensor* b) {
  switch (which) {
    case 0: return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
    case 1: return [g subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
    case 2: return [g multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
    case 3: return [g maximumWithPrimaryTensor:a secondaryTensor:b name:nil];
    default: return [g minimumWithPrimaryTensor:a secondaryTensor:b name:nil];
  }
}

static constexpr size_t kReductions = 4, kSmoothReductions = 3;

static Array reduced(size_t which, const Array& x, const std::vector<long>& axes) {
  const Array total = sum_over(x, axes);
  const double n = static_cast<double>(x.values.size()) / static_cast<double>(total.values.size());
  const Array mean = map(total, [n](double s) { return s / n; });
  switch (which) {
    case 0: return total;
    case 1: return mean;
    case 2: {
      const Array squares = sum_over(map(x, mean, [](double v, double m) { return (v - m) * (v - m); }), axes);
      return map(squares, [n](double s) { return s / n; });
    }
    default:
      return reduce(x, axes, -std::numeric_limits<double>::infinity(),
                    [](double a, double b) { return std::fmax(a, b); });
  }
}

static MPSGraphTensor* reduced(MPSGraph* g, size_t which, MPSGraphTensor* x, const std::vector<long>& axes) {
  switch (which) {
    case 0: return [g reductionSumWithTensor:x axes:numbers(axes) name:nil];
    case 1: return [g meanOfTensor:x axes:numbers(axes) name:nil];
    case 2: return [g varianceOfTensor:x axes:numbers(axes) name:nil];
    default: return [g reductionMaximumWithTensor:x axes:numbers(axes) name:nil];
  }
}

// a times the transpose of a, over the last two dimensions.
static Array gram(const Array& a) {
  Shape shape = a.shape;
  const size_t rank = shape.size();
  shape.at(rank - 1) = shape.at(rank - 2);
  Array y(shape);
  for_each_index(shape, [&](const Index& i) {
    for (long k = 0; k < a.shape.at(rank - 1); ++k) {
      Index left = i, right = i;
      left.at(rank - 1) = k;
      right.at(rank - 2) = i.at(rank - 1);
      right.at(rank - 1) = k;
      y.at(i) += a.at(left) * a.at(right);
    }
  });
  return y;
}

// The filter that every convolution here uses: 2 x 1 taps, from 2 channels to 3, valid.
static const Array& filter() {
  static const Array weights = random_array({2, 1, 2, 3}, -1, 1);
  return weights;
}

static Array convolved(const Array& x) {
  Array y({x.shape.at(0), x.shape.at(1) - 1, x.shape.at(2), 3});
  for_each_index(y.shape, [&](const Index& i) {
    for_each_index({2, 2}, [&](const Index& k) {
      y.at(i) += x.at({i.at(0), i.at(1) + k.at(0), i.at(2), k.at(1)}) * filter().at({k.at(0), 0, k.at(1), i.at(3)});
    });
  });
  return y;
}

static MPSGraphTensor* convolved(MPSGraph* g, MPSGraphTensor* x) {
  MPSGraphConvolution2DOpDescriptor* valid =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                       strideInY:1
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:1
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  return [g convolution2DWithSourceTensor:x weightsTensor:constant(g, filter()) descriptor:valid name:nil];
}

static Array value_of(const Step& s, const std::vector<Array>& values) {
  const Array &a = values.at(s.a), &b = values.at(s.b);
  switch (s.kind) {
    case Kind::unary: return map(a, [&](double x) { return unary(s.which, x); });
    case Kind::binary: return map(a, b, [&](double x, double y) { return binary(s.which, x, y); });
    case Kind::choose: return map(a, b, [](double x, double y) { return x < y ? y : 2 * x; });
    case Kind::reduce: return reduced(s.which, a, s.numbers);
    case Kind::transpose: return permuted(a, s.numbers);
    case Kind::reshape: return Array(s.numbers, a.values);
    case Kind::slice: {
      Shape shape;
      for (size_t d = 0; d < a.shape.size(); ++d) shape.push_back(s.more.at(d) - s.numbers.at(d));
      Array y(shape);
      for_each_index(shape, [&](const Index& i) {
        Index source = i;
        for (size_t d = 0; d < i.size(); ++d) source.at(d) += s.numbers.at(d);
        y.at(i) = a.at(source);
      });
      return y;
    }
    case Kind::concat: {
      Shape shape = a.shape;
      const size_t axis = static_cast<size_t>(s.numbers.front());
      shape.at(axis) += b.shape.at(axis);
      Array y(shape);
      for_each_index(shape, [&](Index i) {
        const Index to = i;
        const bool is_first = i.at(axis) < a.shape.at(axis);
        if (!is_first) i.at(axis) -= a.shape.at(axis);
        y.at(to) = is_first ? a.at(i) : b.at(i);
      });
      return y;
    }
    case Kind::broadcast: {
      Array y(s.numbers);
      for_each_index(s.numbers, [&](const Index& i) { y.at(i) = broadcast_at(a, i); });
      return y;
    }
    case Kind::softmax: {
      const Array e = map(a, [](double x) { return std::exp(x); });
      return map(e, sum_over(e, s.numbers), [](double x, double t) { return x / t; });
    }
    case Kind::product: return gram(a);
    default: return convolved(a);
  }
}

static MPSGraphTensor* tensor_of(const Step& s, MPSGraph* g, const std::vector<MPSGraphTensor*>& tensors) {
  MPSGraphTensor *a = tensors.at(s.a), *b = tensors.at(s.b);
  switch (s.kind) {
    case Kind::unary: return unary(g, s.which, a);
    case Kind::binary: return binary(g, s.which, a, b);
    case Kind::choose: {
      MPSGraphTensor* is_less = [g lessThanWithPrimaryTensor:a secondaryTensor:b name:nil];
      MPSGraphTensor* twice = [g additionWithPrimaryTensor:a secondaryTensor:a name:nil];
      return [g selectWithPredicateTensor:is_less truePredicateTensor:b falsePredicateTensor:twice name:nil];
    }
    case Kind::reduce: return reduced(g, s.which, a, s.numbers);
    case Kind::transpose: return [g transposeTensor:a permutation:numbers(s.numbers) name:nil];
    case Kind::reshape: return [g reshapeTensor:a withShape:numbers(s.numbers) name:nil];
    case Kind::slice: {
      const std::vector<long> ones(s.numbers.size(), 1);
      return [g sliceTensor:a starts:numbers(s.numbers) ends:numbers(s.more) strides:numbers(ones) name:nil];
    }
    case Kind::concat: return [g concatTensor:a withTensor:b dimension:s.numbers.front() name:nil];
    case Kind::broadcast: return [g broadcastTensor:a toShape:numbers(s.numbers) name:nil];
    case Kind::softmax: return [g softMaxWithTensor:a axis:s.numbers.front() name:nil];
    case Kind::product: {
      const NSUInteger rank = [[a shape] count];
      MPSGraphTensor* transposed = [g transposeTensor:a dimension:rank - 1 withDimension:rank - 2 name:nil];
      return [g matrixMultiplicationWithPrimaryTensor:a secondaryTensor:transposed name:nil];
    }
    default: return convolved(g, a);
  }
}

static bool broadcasts(const Shape& a, const Shape& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const long da = a.at(a.size() - i), db = b.at(b.size() - i);
    if (da != db && da != 1 && db != 1) return false;
  }
  return true;
}

static void propose_slice(const Shape& shape, Step& s) {
  for (const long extent : shape) {
    const long start = static_cast<long>(random_below(static_cast<size_t>(extent)));
    s.numbers.push_back(start);
    s.more.push_back(start + 1 + static_cast<long>(random_below(static_cast<size_t>(extent - start))));
  }
}

// A random step that is legal on these values; `smooth` leaves out what has kinks. False: not this time.
static bool propose(const std::vector<Array>& values, bool smooth, Step& s) {
  s.kind = static_cast<Kind>(random_below(12));
  // Late tensors more often than early ones, so that chains become long.
  auto pick = [&] { return values.size() - 1 - random_below(random_below(values.size()) + 1); };
  s.a = pick();
  s.b = pick();
  s.numbers.clear();
  s.more.clear();
  const Array &a = values.at(s.a), &b = values.at(s.b);
  const size_t rank = a.shape.size();
  switch (s.kind) {
    case Kind::unary: s.which = random_below(smooth ? kSmoothUnary : kUnary); return true;
    case Kind::binary: s.which = random_below(smooth ? kSmoothBinary : kBinary); return broadcasts(a.shape, b.shape);
    case Kind::choose: {
      if (smooth || !broadcasts(a.shape, b.shape)) return false;
      // Rounding must not decide.
      const Array distance = map(a, b, [](double x, double y) { return std::fabs(x - y); });
      return *std::min_element(distance.values.begin(), distance.values.end()) > 1e-2;
    }
    case Kind::reduce:
      s.which = random_below(smooth ? kSmoothReductions : kReductions);
      for (size_t d = 0; d < rank; ++d) {
        if (next_random() < 0.5) s.numbers.push_back(static_cast<long>(d));
      }
      return rank > 0 && !s.numbers.empty();
    case Kind::transpose:
      for (size_t d = 0; d < rank; ++d) s.numbers.push_back(static_cast<long>(d));
      for (size_t d = rank; d > 1; --d) std::swap(s.numbers.at(d - 1), s.numbers.at(random_below(d)));
      return rank > 1;
    case Kind::reshape: {
      const long count = element_count(a.shape);
      const long side = static_cast<long>(random_below(4)) + 1;
      if (count % side != 0) return false;
      s.numbers = next_random() < 0.5 ? Shape{side, count / side} : Shape{1, count / side, side};
      return true;
    }
    case Kind::slice: propose_slice(a.shape, s); return rank > 0;
    case Kind::concat: {
      if (rank == 0 || b.shape.size() != rank) return false;
      const size_t axis = random_below(rank);
      for (size_t d = 0; d < rank; ++d) {
        if (d != axis && a.shape.at(d) != b.shape.at(d)) return false;
      }
      s.numbers = {static_cast<long>(axis)};
      return true;
    }
    case Kind::broadcast:
      s.numbers = a.shape;
      for (long& d : s.numbers) d = d == 1 ? 3 : d;
      if (next_random() < 0.5) s.numbers.insert(s.numbers.begin(), 2);
      return s.numbers.size() < 5;
    case Kind::softmax:
      s.numbers = {static_cast<long>(random_below(rank + 1)) % std::max(static_cast<long>(rank), 1l)};
      return rank > 0;
    case Kind::product: return rank > 1;
    default: return rank == 4 && a.shape.at(1) > 1 && a.shape.at(3) == 2;
  }
}

static bool is_tame(const Array& x) {
  if (x.values.size() > 500) return false;
  return std::all_of(x.values.begin(), x.values.end(), [](double v) { return std::fabs(v) < 20; });
}

struct Recipe {
  std::vector<Array> sources;
  std::vector<Step> steps;
  std::vector<Array> values;  // of the sources, then of the steps
};

static Recipe random_recipe(size_t length, bool smooth) {
  Recipe r;
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{3, 1}, Shape{4}, Shape{}, Shape{2, 3, 4, 2}}) {
    r.sources.push_back(random_array(shape));
  }
  r.values = r.sources;
  while (r.steps.size() < length) {
    Step step;
    if (!propose(r.values, smooth, step)) continue;
    const Array value = value_of(step, r.values);
    if (!is_tame(value)) continue;
    r.steps.push_back(step);
    r.values.push_back(value);
  }
  return r;
}

static std::vector<MPSGraphTensor*> tensors_of(const Recipe& r, MPSGraph* g, std::vector<MPSGraphTensor*> sources) {
  for (const Step& step : r.steps) sources.push_back(tensor_of(step, g, sources));
  return sources;
}

static constexpr double kTolerance = 3e-4;

// The sources are fed, fixed or kept in variables; all tensors are asked for, then one, then a few.
static void any_targets_have_the_same_values() {
  for (int n = 0; n < 120; ++n) {
    @autoreleasepool {
      const Recipe r = random_recipe(6 + static_cast<size_t>(n) / 4, false);
      Session session;
      MPSGraph* g = session.graph();
      std::vector<MPSGraphTensor*> sources;
      for (const Array& source : r.sources) {
        const size_t how = random_below(3);
        sources.push_back(how == 0 ? session.feed(source) : how == 1 ? constant(g, source) : variable(g, source));
      }
      const std::vector<MPSGraphTensor*> tensors = tensors_of(r, g, sources);
      const std::vector<Array> all = session.run(tensors);
      for (size_t i = 0; i < tensors.size(); ++i) CHECK_ARRAY_WITHIN(kTolerance, all.at(i), r.values.at(i));
      CHECK_ARRAY_WITHIN(kTolerance, session.run(tensors.back()), r.values.back());
      std::vector<size_t> some;
      for (int k = 0; k < 3; ++k) some.push_back(random_below(tensors.size()));
      const std::vector<Array> few =
          session.run({tensors.at(some.at(0)), tensors.at(some.at(1)), tensors.at(some.at(2))});
      for (size_t k = 0; k < 3; ++k) CHECK_ARRAY_WITHIN(kTolerance, few.at(k), r.values.at(some.at(k)));
    }
  }
}

// Every source is a variable, and some are written from tensors that other results still need.
static void writes_do_not_disturb_what_is_still_read() {
  for (int n = 0; n < 80; ++n) {
    @autoreleasepool {
      const Recipe r = random_recipe(6 + static_cast<size_t>(n) / 4, false);
      Session session;
      MPSGraph* g = session.graph();
      std::vector<MPSGraphTensor*> sources;
      for (const Array& source : r.sources) sources.push_back(variable(g, source));
      const std::vector<MPSGraphTensor*> tensors = tensors_of(r, g, sources);
      std::vector<Array> expected = r.sources;
      NSMutableArray* writes = [NSMutableArray array];
      for (size_t v = 0; v < sources.size(); ++v) {
        for (size_t i = tensors.size(); i-- > 0;) {
          if (i == v || r.values.at(i).shape != r.sources.at(v).shape || next_random() < 0.3) continue;
          [writes addObject:[g assignVariable:sources.at(v) withValueOfTensor:tensors.at(i) name:nil]];
          expected.at(v) = r.values.at(i);
          break;
        }
      }
      const size_t asked = random_below(tensors.size());
      const std::vector<Array> seen = session.run({tensors.back(), tensors.at(asked)}, writes);
      CHECK_ARRAY_WITHIN(kTolerance, seen.at(0), r.values.back());
      CHECK_ARRAY_WITHIN(kTolerance, seen.at(1), r.values.at(asked));
      const std::vector<Array> kept = session.run(sources);
      for (size_t v = 0; v < sources.size(); ++v) CHECK_ARRAY_WITHIN(kTolerance, kept.at(v), expected.at(v));
    }
  }
}

static void gradients_agree_with_differences() {
  for (int n = 0; n < 40; ++n) {
    @autoreleasepool {
      const Recipe r = random_recipe(5 + static_cast<size_t>(n) / 4, true);
      // Which sources the last tensor depends on: the others have no gradient.
      std::vector<bool> needed(r.values.size(), false);
      needed.back() = true;
      for (size_t i = r.steps.size(); i-- > 0;) {
        if (!needed.at(r.sources.size() + i)) continue;
        const Step& step = r.steps.at(i);
        needed.at(step.a) = true;
        if (step.kind == Kind::binary || step.kind == Kind::concat) needed.at(step.b) = true;
      }
      std::vector<Array> differentiated;
      for (size_t v = 0; v < r.sources.size(); ++v) {
        if (needed.at(v)) differentiated.push_back(r.sources.at(v));
      }
      const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& operands) {
        std::vector<MPSGraphTensor*> sources;
        size_t next = 0;
        for (size_t v = 0; v < r.sources.size(); ++v) {
          sources.push_back(needed.at(v) ? operands.at(next++) : constant(g, r.sources.at(v)));
        }
        return tensors_of(r, g, sources).back();
      };
      CHECK_GRADIENTS(build, differentiated);
    }
  }
}

// A training step as one run: the loss, all gradients and all writes of descent, against the same in parts.
static void a_step_in_one_run_equals_its_parts() {
  for (int n = 0; n < 30; ++n) {
    @autoreleasepool {
      const Recipe r = random_recipe(6 + static_cast<size_t>(n) / 3, true);
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphTensor* w = variable(g, r.sources.front());
      std::vector<MPSGraphTensor*> sources = {w};
      for (size_t v = 1; v < r.sources.size(); ++v) sources.push_back(session.feed(r.sources.at(v)));
      MPSGraphTensor* last = tensors_of(r, g, sources).back();
      // So that the loss depends on w whatever the recipe did.
      MPSGraphTensor* loss = [g additionWithPrimaryTensor:[g reductionSumWithTensor:last axes:nil name:nil]
                                          secondaryTensor:[g reductionSumWithTensor:[g squareWithTensor:w name:nil]
                                                                               axes:nil
                                                                               name:nil]
                                                     name:nil];
      MPSGraphTensor* gradient = [[g gradientForPrimaryTensor:loss withTensors:list(w) name:nil] objectForKey:w];
      MPSGraphTensor* rate = [g constantWithScalar:0.125 dataType:MPSDataTypeFloat32];
      MPSGraphTensor* updated = [g stochasticGradientDescentWithLearningRateTensor:rate
                                                                      valuesTensor:w
                                                                    gradientTensor:gradient
                                                                              name:nil];
      MPSGraphOperation* write = [g assignVariable:w withValueOfTensor:updated name:nil];
      const Array alone = session.run(gradient), before = session.run(loss);
      const std::vector<Array> together = session.run({loss, gradient}, list(write));
      CHECK_ARRAY_WITHIN(1e-4, together.at(0), before);
      CHECK_ARRAY_WITHIN(1e-4, together.at(1), alone);
      CHECK_ARRAY_WITHIN(1e-4, session.run(w),
                         map(r.sources.front(), alone, [](double v, double d) { return v - 0.125 * d; }));
    }
  }
}

int main() {
  @autoreleasepool {
    any_targets_have_the_same_values();
    writes_do_not_disturb_what_is_still_read();
    gradients_agree_with_differences();
    a_step_in_one_run_equals_its_parts();
  }
  return check::summary();
}
