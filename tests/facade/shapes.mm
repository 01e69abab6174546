// Reshape, transpose, slice and its gradient op, concatenate, broadcast, shapeOf, cast: values, types,
// derivatives.

#include "graph_testing.h"

static NSUInteger unsign(long value) { return static_cast<NSUInteger>(value); }

static MPSGraphTensor* shape_constant(MPSGraph* g, const Shape& shape, MPSDataType type = MPSDataTypeInt32) {
  return constant(g, Array({static_cast<long>(shape.size())}, std::vector<double>(shape.begin(), shape.end()), type));
}

static Array with_shape(const Array& x, const Shape& shape) { return Array(shape, x.values, x.type); }

static void reshape() {
  struct Row {
    Shape from, to, result;
  };
  for (const Row& row :
       {Row{{3, 4, 5}, {4, 15}, {4, 15}}, Row{{3, 4, 5}, {-1, 6}, {10, 6}}, Row{{3, 4, 5}, {5, -1, 3}, {5, 4, 3}},
        Row{{3, 4, 5}, {-1}, {60}}, Row{{6}, {1, 2, 1, 3}, {1, 2, 1, 3}}, Row{{1, 1}, {}, {}}, Row{{}, {1, 1}, {1, 1}},
        Row{{3, 4}, {3, 4}, {3, 4}}}) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt64, MPSDataTypeBool}) {
      Session session;
      const Array x = type == MPSDataTypeFloat32 ? random_array(row.from) : random_integers(row.from, 0, 1, type);
      MPSGraphTensor* tx = session.feed(x);
      CHECK_ARRAY_WITHIN(0, session.run([session.graph() reshapeTensor:tx withShape:numbers(row.to) name:nil]),
                         with_shape(x, row.result));
      if (row.to.empty()) continue;
      for (MPSDataType integers : {MPSDataTypeInt32, MPSDataTypeInt64}) {
        MPSGraphTensor* shape = shape_constant(session.graph(), row.to, integers);
        CHECK_ARRAY_WITHIN(0, session.run([session.graph() reshapeTensor:tx withShapeTensor:shape name:nil]),
                           with_shape(x, row.result));
      }
      MPSGraphTensor* like = [session.graph() shapeOfTensor:session.feed(Array(row.result)) name:nil];
      CHECK_ARRAY_WITHIN(0, session.run([session.graph() reshapeTensor:tx withShapeTensor:like name:nil]),
                         with_shape(x, row.result));
    }
  }
  const Array x = random_array({3, 4, 5}), dy = random_array({6, 10});
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    return [g reshapeTensor:t.at(0) withShape:numbers({6, 10}) name:nil];
  };
  CHECK_ARRAY(Differentiated(build, {x}, dy).gradients.at(0), with_shape(dy, x.shape));
  CHECK_GRADIENTS(build, {x});
}

static void transpose() {
  const std::vector<long> permutations[] = {
      {1, 0},       {0, 1},       {2, 0, 1},    {1, 2, 0},    {0, 2, 1},       {2, 1, 0},       {1, 0, 2},
      {0, 3, 1, 2}, {0, 2, 3, 1}, {3, 0, 2, 1}, {2, 3, 0, 1}, {4, 2, 0, 3, 1}, {1, 2, 3, 4, 0}, {0},
  };
  for (const std::vector<long>& permutation : permutations) {
    Shape shape;
    for (long i = 0; i < static_cast<long>(permutation.size()); ++i) shape.push_back(i + 2);
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeBool}) {
      Session session;
      const Array x = type == MPSDataTypeFloat32 ? random_array(shape) : random_integers(shape, 0, 1, type);
      CHECK_ARRAY_WITHIN(
          0, session.run([session.graph() transposeTensor:session.feed(x) permutation:numbers(permutation) name:nil]),
          permuted(x, permutation));
    }
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g transposeTensor:t.at(0) permutation:numbers(permutation) name:nil];
    };
    const Array x = random_array(shape), dy = random_array(permuted(x, permutation).shape);
    std::vector<long> inverse(permutation.size());
    for (size_t i = 0; i < permutation.size(); ++i) {
      inverse.at(static_cast<size_t>(permutation.at(i))) = static_cast<long>(i);
    }
    CHECK_ARRAY_WITHIN(0, Differentiated(build, {x}, dy).gradients.at(0), permuted(dy, inverse));
    // Counted from the end.
    std::vector<long> negative = permutation;
    for (long& axis : negative) axis -= static_cast<long>(permutation.size());
    const Build from_the_end = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g transposeTensor:t.at(0) permutation:numbers(negative) name:nil];
    };
    Session session;
    CHECK_ARRAY_WITHIN(0, session.run(from_the_end(session.graph(), {session.feed(x)})), permuted(x, permutation));
    CHECK_ARRAY_WITHIN(0, Differentiated(from_the_end, {x}, dy).gradients.at(0), permuted(dy, inverse));
  }
  const Array x = random_array({2, 3, 4, 5});
  for (long a = -4; a < 4; ++a) {
    for (long b = -4; b < 4; ++b) {
      std::vector<long> permutation = {0, 1, 2, 3};
      std::swap(permutation.at(unsign(a < 0 ? a + 4 : a)), permutation.at(unsign(b < 0 ? b + 4 : b)));
      const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g transposeTensor:t.at(0) dimension:unsign(a) withDimension:unsign(b) name:nil];
      };
      Session session;
      CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), {session.feed(x)})), permuted(x, permutation));
      const Array dy = random_array(permuted(x, permutation).shape);
      CHECK_ARRAY_WITHIN(0, Differentiated(build, {x}, dy).gradients.at(0), permuted(dy, permutation));
    }
  }
}

// TensorFlow's strided slice of one dimension of length n.
struct Range {
  long start, stride, length;
};

static Range range_of(long start, long end, long stride, bool from_the_edge, bool to_the_edge, bool is_index, long n) {
  if (is_index) return {start < 0 ? start + n : start, 1, 1};
  const long least = stride > 0 ? 0 : -1, most = stride > 0 ? n : n - 1;
  auto held = [&](long i) { return std::clamp(i < 0 ? i + n : i, least, most); };
  const long from = from_the_edge ? (stride > 0 ? 0 : n - 1) : held(start);
  const long to = to_the_edge ? (stride > 0 ? n : -1) : held(end);
  const long distance = stride > 0 ? to - from : from - to, step = stride > 0 ? stride : -stride;
  return {from, stride, std::max((distance + step - 1) / step, 0l)};
}

struct Slice {
  std::vector<long> starts, ends, strides;
  unsigned start_mask, end_mask, squeeze_mask;
};

static const Slice kSlices[] = {
    {{1, 2, 0}, {4, 6, 7}, {1, 1, 1}, 0, 0, 0},       {{0, 1, 2}, {5, 6, 7}, {2, 3, 4}, 0, 0, 0},
    {{-4, -5, -7}, {-1, -1, -2}, {1, 2, 1}, 0, 0, 0}, {{1, 0, 3}, {100, 50, 7}, {1, 1, 2}, 0, 0, 0},
    {{4, 5, 6}, {0, 1, 2}, {-1, -2, -3}, 0, 0, 0},    {{-1, -1, -1}, {-4, -6, -3}, {-1, -1, -1}, 0, 0, 0},
    {{3, 4, 5}, {2, 1, 6}, {1, 1, 1}, 1u, 2u, 0},     {{3, 2, 1}, {1, 0, 3}, {-1, -1, 1}, 1u, 2u, 0},
    {{2, 2, 2}, {4, 4, 4}, {1, -2, 3}, 2u, 6u, 0},    {{2, 1, 3}, {0, 4, 6}, {1, 1, 2}, 0, 0, 1u},
    {{2, 1, -2}, {9, 5, 9}, {1, 2, 1}, 0, 0, 5u},     {{-1, 0, -1}, {0, 6, 0}, {1, 1, 1}, 0, 0, 5u},
    {{4, 3, 0}, {0, 0, 7}, {1, 1, 2}, 0, 0, 3u},      {{0, 2, 5}, {0, 0, 1}, {-1, 1, -2}, 1u, 1u, 2u},
};

// Calls f(index in the source, index in the slice).
template <class F>
static Shape for_each_taken(const Slice& s, const Shape& shape, F f) {
  std::vector<Range> ranges;
  Shape taken, kept;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto bit = [d](unsigned mask) { return (mask >> d & 1u) != 0; };
    ranges.push_back(range_of(s.starts.at(d), s.ends.at(d), s.strides.at(d), bit(s.start_mask), bit(s.end_mask),
                              bit(s.squeeze_mask), shape.at(d)));
    taken.push_back(ranges.back().length);
    if (!bit(s.squeeze_mask)) kept.push_back(ranges.back().length);
  }
  for_each_index(taken, [&](const Index& i) {
    Index source(i.size()), result;
    for (size_t d = 0; d < i.size(); ++d) {
      source.at(d) = ranges.at(d).start + i.at(d) * ranges.at(d).stride;
      if ((s.squeeze_mask >> d & 1u) == 0) result.push_back(i.at(d));
    }
    f(source, result);
  });
  return kept;
}

static MPSGraphTensor* sliced(MPSGraph* g, MPSGraphTensor* x, const Slice& s) {
  return [g sliceTensor:x
                 starts:numbers(s.starts)
                   ends:numbers(s.ends)
                strides:numbers(s.strides)
              startMask:s.start_mask
                endMask:s.end_mask
            squeezeMask:s.squeeze_mask
                   name:nil];
}

// Of a slice of x, which is fed: by what it gave, by any way to say the shape, and by differences.
static void check_gradients_of_slice(Session& session, MPSGraphTensor* tx, const Array& x, const Slice& s) {
  MPSGraph* g = session.graph();
  const Shape& shape = x.shape;
  const bool has_masks = (s.start_mask | s.end_mask | s.squeeze_mask) != 0;
  const Array dy = random_array(for_each_taken(s, shape, [](const Index&, const Index&) {}));
  Array dx(shape);
  for_each_taken(s, shape, [&](const Index& from, const Index& to) { dx.at(from) += dy.at(to); });
  MPSGraphTensor* tdy = session.feed(dy);
  for (MPSGraphTensor* in_shape :
       {shape_constant(g, shape), shape_constant(g, shape, MPSDataTypeInt64), [g shapeOfTensor:tx name:nil]}) {
    CHECK_ARRAY_WITHIN(0,
                       session.run([g sliceGradientTensor:tdy
                                         fwdInShapeTensor:in_shape
                                                   starts:numbers(s.starts)
                                                     ends:numbers(s.ends)
                                                  strides:numbers(s.strides)
                                                startMask:s.start_mask
                                                  endMask:s.end_mask
                                              squeezeMask:s.squeeze_mask
                                                     name:nil]),
                       dx);
    if (has_masks) continue;
    CHECK_ARRAY_WITHIN(0,
                       session.run([g sliceGradientTensor:tdy
                                         fwdInShapeTensor:in_shape
                                                   starts:numbers(s.starts)
                                                     ends:numbers(s.ends)
                                                  strides:numbers(s.strides)
                                                     name:nil]),
                       dx);
  }
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) { return sliced(graph, t.at(0), s); };
  CHECK_ARRAY_WITHIN(0, Differentiated(build, {x}, dy).gradients.at(0), dx);
  const Build back = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph sliceGradientTensor:t.at(0)
                     fwdInShapeTensor:shape_constant(graph, shape)
                               starts:numbers(s.starts)
                                 ends:numbers(s.ends)
                              strides:numbers(s.strides)
                            startMask:s.start_mask
                              endMask:s.end_mask
                          squeezeMask:s.squeeze_mask
                                 name:nil];
  };
  CHECK_GRADIENTS(back, {dy});
}

static void strided_slice() {
  const Shape shape = {5, 6, 7};
  for (const Slice& s : kSlices) {
    const bool has_masks = (s.start_mask | s.end_mask | s.squeeze_mask) != 0;
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt64}) {
      Session session;
      MPSGraph* g = session.graph();
      Array x = type == MPSDataTypeFloat32 ? random_array(shape) : random_integers(shape, -99, 99, type);
      Array y(for_each_taken(s, shape, [](const Index&, const Index&) {}), 0, type);
      for_each_taken(s, shape, [&](const Index& from, const Index& to) { y.at(to) = x.at(from); });
      MPSGraphTensor* tx = session.feed(x);
      CHECK_ARRAY_WITHIN(0, session.run(sliced(g, tx, s)), y);
      if (!has_masks) {
        CHECK_ARRAY_WITHIN(0,
                           session.run([g sliceTensor:tx
                                               starts:numbers(s.starts)
                                                 ends:numbers(s.ends)
                                              strides:numbers(s.strides)
                                                 name:nil]),
                           y);
      }
      if (type == MPSDataTypeFloat32) check_gradients_of_slice(session, tx, x, s);
    }
  }
}

static void slice_of_one_dimension() {
  struct Row {
    long dimension, start, length;
  };
  const Array x = random_array({5, 6, 7});
  for (const Row& row : {Row{0, 1, 3}, Row{1, 2, 4}, Row{2, 0, 7}, Row{2, 6, 1}, Row{1, -2, 2}, Row{0, -5, 4},
                         Row{2, -3, 1}, Row{-1, 2, 3}}) {
    const size_t d = unsign(row.dimension < 0 ? row.dimension + 3 : row.dimension);
    const long start = row.start < 0 ? row.start + x.shape.at(d) : row.start;
    Shape shape = x.shape;
    shape.at(d) = row.length;
    Array y(shape);
    for_each_index(shape, [&](Index i) {
      const Index to = i;
      i.at(d) += start;
      y.at(to) = x.at(i);
    });
    Session session;
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g sliceTensor:t.at(0) dimension:unsign(row.dimension) start:row.start length:row.length name:nil];
    };
    CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), {session.feed(x)})), y);
    const Array dy = random_array(shape);
    Array dx(x.shape);
    for_each_index(shape, [&](Index i) {
      const double v = dy.at(i);
      i.at(d) += start;
      dx.at(i) = v;
    });
    CHECK_ARRAY_WITHIN(0, Differentiated(build, {x}, dy).gradients.at(0), dx);
  }
}

static Array joined(const std::vector<Array>& parts, size_t dimension) {
  Shape shape = parts.front().shape;
  shape.at(dimension) = 0;
  for (const Array& part : parts) shape.at(dimension) += part.shape.at(dimension);
  Array y(shape, 0, parts.front().type);
  long start = 0;
  for (const Array& part : parts) {
    for_each_index(part.shape, [&](Index i) {
      const double v = part.at(i);
      i.at(dimension) += start;
      y.at(i) = v;
    });
    start += part.shape.at(dimension);
  }
  return y;
}

static void concatenate() {
  for (long dimension = -3; dimension < 3; ++dimension) {
    const size_t d = unsign(dimension < 0 ? dimension + 3 : dimension);
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeBool}) {
      std::vector<Array> parts;
      for (long length : {2, 1, 4}) {
        Shape shape = {3, 4, 5};
        shape.at(d) = length;
        parts.push_back(type == MPSDataTypeFloat32 ? random_array(shape) : random_integers(shape, 0, 1, type));
      }
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphTensor *a = session.feed(parts.at(0)), *b = session.feed(parts.at(1)), *c = session.feed(parts.at(2));
      CHECK_ARRAY_WITHIN(
          0, session.run([g concatTensors:[NSArray arrayWithObjects:a, b, c, nil] dimension:dimension name:nil]),
          joined(parts, d));
      CHECK_ARRAY_WITHIN(0, session.run([g concatTensor:c withTensor:a dimension:dimension name:nil]),
                         joined({parts.at(2), parts.at(0)}, d));
      CHECK_ARRAY_WITHIN(0, session.run([g concatTensors:[NSArray arrayWithObject:b] dimension:dimension name:nil]),
                         parts.at(1));
      CHECK_ARRAY_WITHIN(0, session.run([g concatTensor:b withTensor:b dimension:dimension name:nil]),
                         joined({parts.at(1), parts.at(1)}, d));
      if (type != MPSDataTypeFloat32) continue;
      const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
        return [graph concatTensors:[NSArray arrayWithObjects:t.at(0), t.at(1), t.at(2), nil]
                          dimension:dimension
                               name:nil];
      };
      const std::vector<Array> gradients = {random_array(parts.at(0).shape), random_array(parts.at(1).shape),
                                            random_array(parts.at(2).shape)};
      const Differentiated graph(build, parts, joined(gradients, d));
      for (size_t i = 0; i < 3; ++i) CHECK_ARRAY_WITHIN(0, graph.gradients.at(i), gradients.at(i));
    }
  }
}

// Along the other dimensions the tensors broadcast.
static void concatenate_and_broadcast() {
  const std::vector<Array> parts = {random_array({2, 3, 1}), random_array({1, 2, 4}), random_array({2, 1, 4}),
                                    random_array({1, 1, 1})};
  std::vector<Array> whole;
  for (const Array& part : parts) {
    Array y({2, part.shape.at(1), 4});
    for_each_index(y.shape, [&](const Index& i) { y.at(i) = broadcast_at(part, i); });
    whole.push_back(y);
  }
  for (long dimension : {1, -2}) {
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g concatTensors:[NSArray arrayWithObjects:t.at(0), t.at(1), t.at(2), t.at(3), nil]
                    dimension:dimension
                         name:nil];
    };
    Session session;
    std::vector<MPSGraphTensor*> fed;
    for (const Array& part : parts) fed.push_back(session.feed(part));
    CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), fed)), joined(whole, 1));
    CHECK_ARRAY_WITHIN(
        0, session.run([session.graph() concatTensor:fed.at(1) withTensor:fed.at(2) dimension:dimension name:nil]),
        joined({whole.at(1), whole.at(2)}, 1));
    CHECK_GRADIENTS(build, parts);
  }
}

static void broadcast() {
  const std::pair<Shape, Shape> rows[] = {
      {{4}, {3, 4}},    {{3, 1}, {3, 4}},       {{1}, {2, 3}}, {{}, {2, 3}}, {{2, 1, 3}, {5, 2, 4, 3}},
      {{2, 3}, {2, 3}}, {{1, 3, 1}, {2, 3, 5}},
  };
  for (const auto& [from, to] : rows) {
    for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeBool}) {
      Session session;
      MPSGraph* g = session.graph();
      const Array x = type == MPSDataTypeFloat32 ? random_array(from) : random_integers(from, 0, 1, type);
      Array y(to, 0, type);
      for_each_index(to, [&](const Index& i) { y.at(i) = broadcast_at(x, i); });
      MPSGraphTensor *tx = session.feed(x), *like = session.feed(Array(to));
      CHECK_ARRAY_WITHIN(0, session.run([g broadcastTensor:tx toShape:numbers(to) name:nil]), y);
      CHECK_ARRAY_WITHIN(0, session.run([g broadcastTensor:tx toShapeTensor:shape_constant(g, to) name:nil]), y);
      CHECK_ARRAY_WITHIN(
          0, session.run([g broadcastTensor:tx toShapeTensor:shape_constant(g, to, MPSDataTypeInt64) name:nil]), y);
      CHECK_ARRAY_WITHIN(0, session.run([g broadcastTensor:tx toShapeTensor:[g shapeOfTensor:like name:nil] name:nil]),
                         y);
    }
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g broadcastTensor:t.at(0) toShape:numbers(to) name:nil];
    };
    const Array dy = random_array(to);
    CHECK_ARRAY(Differentiated(build, {random_array(from)}, dy).gradients.at(0), sum_to(dy, from));
  }
}

static void shape_of_a_tensor() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 3, -1}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* shape = [g shapeOfTensor:x name:nil];
  CHECK([shape dataType] == MPSDataTypeInt32 && shape_of([shape shape]) == Shape{3});
  for (long n : {2, 5}) {
    session.set(x, Array({n, 3, n + 1}));
    CHECK_ARRAY_WITHIN(0, session.run(shape),
                       Array({3}, {static_cast<double>(n), 3, static_cast<double>(n + 1)}, MPSDataTypeInt32));
  }
}

static MPSGraphTensor* part(MPSGraph* g, MPSGraphTensor* shape, long start, long length) {
  return [g sliceTensor:shape dimension:0 start:start length:length name:nil];
}

// To the shape that two parts of one make.
static MPSGraphTensor* reshaped(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* first, MPSGraphTensor* rest) {
  return [g reshapeTensor:x withShapeTensor:[g concatTensor:first withTensor:rest dimension:0 name:nil] name:nil];
}

// Shapes computed from shapes, as programs make them: slices of shapeOfTensor: joined with constants, arithmetic, other
// integers; of tensors whose lengths are known when the graph is built, and of ones that each run gives others.
static void shapes_made_of_shapes() {
  for (const bool is_known : {true, false}) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* x = placeholder(g, is_known ? Shape{2, 3, 4} : Shape{-1, 3, -1});
    MPSGraphTensor* row = placeholder(g, is_known ? Shape{4} : Shape{-1});
    MPSGraphTensor* shape = [g shapeOfTensor:x name:nil];
    MPSGraphTensor *batch = part(g, shape, 0, 1), *rest = part(g, shape, 1, 2), *last = part(g, shape, -1, 1);
    MPSGraphTensor *open = shape_constant(g, {-1}), *five = shape_constant(g, {5}),
                   *two = [g constantWithScalar:2 dataType:MPSDataTypeInt32];
    MPSGraphTensor* flat = reshaped(g, x, batch, open);
    MPSGraphTensor* merged = [g multiplicationWithPrimaryTensor:part(g, shape, 0, 1)
                                                secondaryTensor:part(g, shape, 1, 1)
                                                           name:nil];
    MPSGraphTensor* tall = reshaped(g, x, merged, last);
    MPSGraphTensor* line = [g reshapeTensor:x
                            withShapeTensor:[g reductionProductWithTensor:shape axis:0 name:nil]
                                       name:nil];
    NSArray* pieces = [NSArray arrayWithObjects:five, batch, last, nil];
    MPSGraphTensor* many = [g broadcastTensor:row toShapeTensor:[g concatTensors:pieces dimension:0 name:nil] name:nil];
    MPSGraphTensor* doubled = [g multiplicationWithPrimaryTensor:batch secondaryTensor:two name:nil];
    MPSGraphTensor* joined_wide = [g concatTensor:[g castTensor:doubled toType:MPSDataTypeInt64 name:nil]
                                       withTensor:[g castTensor:last toType:MPSDataTypeInt64 name:nil]
                                        dimension:0
                                             name:nil];
    MPSGraphTensor* twice = [g broadcastTensor:row toShapeTensor:joined_wide name:nil];
    MPSGraphTensor* same = reshaped(g, [g squareWithTensor:flat name:nil], batch, rest);
    MPSGraphTensor* loss = [g reductionSumWithTensor:[g multiplicationWithPrimaryTensor:same secondaryTensor:x name:nil]
                                                axes:nil
                                                name:nil];
    MPSGraphTensor* all = [g reductionSumWithTensor:many axes:nil name:nil];
    MPSGraphTensor* dx = [[g gradientForPrimaryTensor:loss withTensors:[NSArray arrayWithObject:x]
                                                 name:nil] objectForKey:x];
    MPSGraphTensor* drow = [[g gradientForPrimaryTensor:all withTensors:[NSArray arrayWithObject:row]
                                                   name:nil] objectForKey:row];
    if (is_known) {
      CHECK(shape_of([flat shape]) == Shape({2, 12}) && shape_of([tall shape]) == Shape({6, 4}) &&
            shape_of([line shape]) == Shape{24});
      CHECK(shape_of([many shape]) == Shape({5, 2, 4}) && shape_of([twice shape]) == Shape({4, 4}));
    }
    for (const long n : {2, 3, 2, 1}) {
      const long m = is_known ? 4 : n + 2, b = is_known ? 2 : n;
      const Array value = random_array({b, 3, m}), row_value = random_array({m});
      session.set(x, value);
      session.set(row, row_value);
      CHECK_ARRAY_WITHIN(0, session.run(flat), with_shape(value, {b, 3 * m}));
      CHECK_ARRAY_WITHIN(0, session.run(tall), with_shape(value, {3 * b, m}));
      CHECK_ARRAY_WITHIN(0, session.run(line), with_shape(value, {3 * b * m}));
      Array repeated({5, b, m}), rows({2 * b, m});
      for_each_index(repeated.shape, [&](const Index& i) { repeated.at(i) = row_value.at({i.at(2)}); });
      for_each_index(rows.shape, [&](const Index& i) { rows.at(i) = row_value.at({i.at(1)}); });
      CHECK_ARRAY_WITHIN(0, session.run(many), repeated);
      CHECK_ARRAY_WITHIN(0, session.run(twice), rows);
      CHECK_ARRAY(session.run(same), map(value, [](double v) { return v * v; }));
      CHECK_ARRAY(session.run(dx), map(value, [](double v) { return 3 * v * v; }));
      CHECK_ARRAY(session.run(drow), Array({m}, static_cast<double>(5 * b)));
    }
  }
}

static void cast() {
  const Array numbers_in({7}, {0, 1, -1, 2.75, -2.75, 100, 0.5});
  struct Row {
    MPSDataType from, to;
    std::vector<double> values;
  };
  for (const Row& row : {
           Row{MPSDataTypeFloat32, MPSDataTypeFloat32, {0, 1, -1, 2.75, -2.75, 100, 0.5}},
           Row{MPSDataTypeFloat32, MPSDataTypeInt32, {0, 1, -1, 2, -2, 100, 0}},
           Row{MPSDataTypeFloat32, MPSDataTypeInt64, {0, 1, -1, 2, -2, 100, 0}},
           Row{MPSDataTypeFloat32, MPSDataTypeBool, {0, 1, 1, 1, 1, 1, 1}},
           Row{MPSDataTypeInt32, MPSDataTypeFloat32, {0, 1, -1, 2, -2, 100, 0}},
           Row{MPSDataTypeInt32, MPSDataTypeInt64, {0, 1, -1, 2, -2, 100, 0}},
           Row{MPSDataTypeInt32, MPSDataTypeBool, {0, 1, 1, 1, 1, 1, 0}},
           Row{MPSDataTypeInt64, MPSDataTypeFloat32, {0, 1, -1, 2, -2, 100, 0}},
           Row{MPSDataTypeInt64, MPSDataTypeInt32, {0, 1, -1, 2, -2, 100, 0}},
       }) {
    Session session;
    Array x = numbers_in;
    x.type = row.from;
    CHECK_ARRAY_WITHIN(0, session.run([session.graph() castTensor:session.feed(x) toType:row.to name:@"converted"]),
                       Array({7}, row.values, row.to));
  }
  for (MPSDataType to : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64}) {
    Session session;
    const Array flags({3}, {1, 0, 1}, MPSDataTypeBool);
    CHECK_ARRAY_WITHIN(0, session.run([session.graph() castTensor:session.feed(flags) toType:to name:nil]),
                       Array({3}, {1, 0, 1}, to));
  }
  // The mask of a comparison as numbers, as masked losses use it: no gradient through the mask, all of it
  // around.
  const Array x({4}, {-1, 2, -3, 4});
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
    MPSGraphTensor* zero = [g constantWithScalar:0 dataType:MPSDataTypeFloat32];
    MPSGraphTensor* positive = [g greaterThanWithPrimaryTensor:t.at(0) secondaryTensor:zero name:nil];
    MPSGraphTensor* mask = [g castTensor:positive toType:MPSDataTypeFloat32 name:nil];
    return [g multiplicationWithPrimaryTensor:mask secondaryTensor:[g squareWithTensor:t.at(0) name:nil] name:nil];
  };
  CHECK_ARRAY(Differentiated(build, {x}, Array({4}, {1, 1, 1, 1})).gradients.at(0), Array({4}, {0, 4, 0, 8}));
}

static void gather() {
  struct Row {
    Shape shape, indices;
    size_t axis, batch;
  };
  for (const Row& row : {Row{{5, 3}, {4}, 0, 0}, Row{{5, 3}, {2, 2}, 1, 0}, Row{{5}, {}, 0, 0},
                         Row{{2, 3, 4}, {2, 6}, 1, 1}, Row{{2, 3, 4}, {2, 6}, 2, 1}, Row{{2, 3, 4}, {2, 3, 5}, 2, 2}}) {
    for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
      const Array x = random_array(row.shape),
                  indices = random_integers(row.indices, 0, row.shape.at(row.axis) - 1, type);
      const long n = static_cast<long>(row.indices.size() - row.batch), axis = static_cast<long>(row.axis);
      Shape shape(x.shape.begin(), x.shape.begin() + axis);
      shape.insert(shape.end(), row.indices.begin() + static_cast<long>(row.batch), row.indices.end());
      shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
      Array y(shape);
      for_each_index(shape, [&](const Index& i) {
        Index of_indices(i.begin(), i.begin() + static_cast<long>(row.batch)), from(i.begin(), i.begin() + axis);
        of_indices.insert(of_indices.end(), i.begin() + axis, i.begin() + axis + n);
        from.push_back(static_cast<long>(indices.at(of_indices)));
        from.insert(from.end(), i.begin() + axis + n, i.end());
        y.at(i) = x.at(from);
      });
      Session session;
      CHECK_ARRAY_WITHIN(0,
                         session.run([session.graph() gatherWithUpdatesTensor:session.feed(x)
                                                                indicesTensor:session.feed(indices)
                                                                         axis:row.axis
                                                              batchDimensions:row.batch
                                                                         name:nil]),
                         y);
    }
  }
}

// What meets at a place is added.
static void scatter() {
  struct Row {
    Shape updates, indices, result;
    size_t batch;
  };
  for (const Row& row : {Row{{7, 3}, {7, 1}, {4, 3}, 0}, Row{{9}, {9, 2}, {3, 4}, 0},
                         Row{{2, 6, 3}, {2, 6, 1}, {2, 4, 3}, 1}, Row{{2, 5}, {2, 5, 2}, {2, 2, 3}, 1}}) {
    const Array updates = random_array(row.updates), indices = random_integers(row.indices, 0, 1);
    Array y(row.result);
    for_each_index(row.updates, [&](const Index& i) {
      const long places = static_cast<long>(row.indices.size()) - 1;
      Index to(i.begin(), i.begin() + static_cast<long>(row.batch)), of_indices(i.begin(), i.begin() + places);
      of_indices.push_back(0);
      for (; of_indices.back() < row.indices.back(); ++of_indices.back()) {
        to.push_back(static_cast<long>(indices.at(of_indices)));
      }
      to.insert(to.end(), i.begin() + places, i.end());
      y.at(to) += updates.at(i);
    });
    Session session;
    CHECK_ARRAY_WITHIN(1e-6,
                       session.run([session.graph() scatterNDWithUpdatesTensor:session.feed(updates)
                                                                 indicesTensor:session.feed(indices)
                                                                         shape:numbers(row.result)
                                                               batchDimensions:row.batch
                                                                          name:nil]),
                       y);
  }
}

int main() {
  @autoreleasepool {
    reshape();
    transpose();
    strided_slice();
    slice_of_one_dimension();
    concatenate();
    concatenate_and_broadcast();
    broadcast();
    shape_of_a_tensor();
    shapes_made_of_shapes();
    cast();
    gather();
    scatter();
  }
  return check::summary();
}
