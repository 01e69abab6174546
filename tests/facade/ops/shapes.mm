// Reshape, transpose, slice and its gradient op, concatenate, broadcast, shapeOf: every form of shapes, dimensions and
// masks. The engine's own are in tests/python/ops/test_ops.py.

#include "graph_testing.h"

static Array with_shape(const Array& x, const Shape& shape) { return Array(shape, x.values, x.type); }

TEST(reshape) {
  struct Row {
    Shape from, to, result;
  };
  for (const Row& row : {Row{{3, 4, 5}, {4, 15}, {4, 15}}, Row{{3, 4, 5}, {-1, 6}, {10, 6}},
                         Row{{3, 4, 5}, {5, -1, 3}, {5, 4, 3}}, Row{{3, 4, 5}, {-1}, {60}}, Row{{}, {1, 1}, {1, 1}}}) {
    const Array x = random_array(row.from), y = with_shape(x, row.result);
    CHECK_WAYS(x, y, WAY([g reshapeTensor:x withShape:numbers(row.to) name:nil]),
               WAY([g reshapeTensor:x withShapeTensor:integers(g, row.to) name:nil]),
               WAY([g reshapeTensor:x withShapeTensor:integers(g, row.to, MPSDataTypeInt64) name:nil]),
               WAY([g reshapeTensor:x withShapeTensor:[g shapeOfTensor:constant(g, y) name:nil] name:nil]));
  }
}

// Dimensions count from the end, too.
TEST(transpose) {
  const Array x = random_array({2, 3, 4, 5});
  for (const std::vector<long>& permutation : {std::vector<long>{0, 3, 1, 2}, {3, 0, 2, 1}, {0, 1, 2, 3}}) {
    std::vector<long> negative = permutation;
    for (long& axis : negative) axis -= 4;
    CHECK_WAYS(x, permuted(x, permutation), WAY([g transposeTensor:x permutation:numbers(negative) name:nil]));
  }
  for (long a = -4; a < 4; ++a) {
    for (long b = -4; b < 4; ++b) {
      std::vector<long> permutation = {0, 1, 2, 3};
      std::swap(permutation.at(unsign(a < 0 ? a + 4 : a)), permutation.at(unsign(b < 0 ? b + 4 : b)));
      CHECK_WAYS(x, permuted(x, permutation),
                 WAY([g transposeTensor:x dimension:unsign(a) withDimension:unsign(b) name:nil]));
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

TEST(strided_slice) {
  const Array x = random_array({5, 6, 7});
  for (const Slice& s : kSlices) {
    const bool has_masks = (s.start_mask | s.end_mask | s.squeeze_mask) != 0;
    Array y(for_each_taken(s, x.shape, [](const Index&, const Index&) {})), dx(x.shape);
    const Array dy = random_array(y.shape);
    for_each_taken(s, x.shape, [&](const Index& from, const Index& to) {
      y.at(to) = x.at(from);
      dx.at(from) += dy.at(to);
    });
    NSArray *starts = numbers(s.starts), *ends = numbers(s.ends), *strides = numbers(s.strides);
    CHECK_WAYS(x, y,
               WAY([g sliceTensor:x
                           starts:starts
                             ends:ends
                          strides:strides
                        startMask:s.start_mask
                          endMask:s.end_mask
                      squeezeMask:s.squeeze_mask
                             name:nil]));
    CHECK_WAYS(dy, dx,
               WAY([g sliceGradientTensor:x
                         fwdInShapeTensor:integers(g, dx.shape, MPSDataTypeInt64)
                                   starts:starts
                                     ends:ends
                                  strides:strides
                                startMask:s.start_mask
                                  endMask:s.end_mask
                              squeezeMask:s.squeeze_mask
                                     name:nil]));
    if (has_masks) continue;
    CHECK_WAYS(x, y, WAY([g sliceTensor:x starts:starts ends:ends strides:strides name:nil]));
    CHECK_WAYS(dy, dx,
               WAY([g sliceGradientTensor:x
                         fwdInShapeTensor:[g shapeOfTensor:constant(g, dx) name:nil]
                                   starts:starts
                                     ends:ends
                                  strides:strides
                                     name:nil]));
  }
}

TEST(slice_of_one_dimension) {
  struct Row {
    long dimension, start, length;
  };
  const Array x = random_array({5, 6, 7});
  for (const Row& row : {Row{1, 2, 4}, Row{2, 6, 1}, Row{1, -2, 2}, Row{0, -5, 4}, Row{-1, 2, 3}}) {
    const size_t d = unsign(row.dimension < 0 ? row.dimension + 3 : row.dimension);
    Shape shape = x.shape;
    shape.at(d) = row.length;
    Array y(shape);
    for_each_index(shape, [&](Index i) {
      const Index to = i;
      i.at(d) += row.start < 0 ? row.start + x.shape.at(d) : row.start;
      y.at(to) = x.at(i);
    });
    CHECK_WAYS(x, y, WAY([g sliceTensor:x dimension:unsign(row.dimension) start:row.start length:row.length name:nil]));
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

TEST(concatenate) {
  for (long dimension = -3; dimension < 3; ++dimension) {
    const size_t d = unsign(dimension < 0 ? dimension + 3 : dimension);
    std::vector<Array> parts;
    for (long length : {2, 1, 4}) {
      Shape shape = {3, 4, 5};
      shape.at(d) = length;
      parts.push_back(random_array(shape));
    }
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor *a = session.feed(parts.at(0)), *b = session.feed(parts.at(1)), *c = session.feed(parts.at(2));
    CHECK_ARRAY_WITHIN(0, session.run([g concatTensors:list(a, b, c) dimension:dimension name:nil]), joined(parts, d));
    CHECK_ARRAY_WITHIN(0, session.run([g concatTensor:c withTensor:a dimension:dimension name:nil]),
                       joined({parts.at(2), parts.at(0)}, d));
    CHECK_ARRAY_WITHIN(0, session.run([g concatTensors:list(b) dimension:dimension name:nil]), parts.at(1));
    CHECK_ARRAY_WITHIN(0, session.run([g concatTensor:b withTensor:b dimension:dimension name:nil]),
                       joined({parts.at(1), parts.at(1)}, d));
  }
}

// Along the other dimensions the tensors broadcast.
TEST(concatenate_and_broadcast) {
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
  }
}

TEST(broadcast) {
  const std::pair<Shape, Shape> rows[] = {{{4}, {3, 4}}, {{}, {2, 3}}, {{2, 1, 3}, {5, 2, 4, 3}}, {{2, 3}, {2, 3}}};
  for (const auto& row : rows) {
    const Shape& to = row.second;
    const Array x = random_array(row.first);
    Array y(to);
    for_each_index(to, [&](const Index& i) { y.at(i) = broadcast_at(x, i); });
    CHECK_WAYS(x, y, WAY([g broadcastTensor:x toShape:numbers(to) name:nil]),
               WAY([g broadcastTensor:x toShapeTensor:integers(g, to) name:nil]),
               WAY([g broadcastTensor:x toShapeTensor:integers(g, to, MPSDataTypeInt64) name:nil]),
               WAY([g broadcastTensor:x toShapeTensor:[g shapeOfTensor:constant(g, y) name:nil] name:nil]));
  }
}

TEST(shape_of_a_tensor) {
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
TEST(shapes_made_of_shapes) {
  for (const bool is_known : {true, false}) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* x = placeholder(g, is_known ? Shape{2, 3, 4} : Shape{-1, 3, -1});
    MPSGraphTensor* row = placeholder(g, is_known ? Shape{4} : Shape{-1});
    MPSGraphTensor* shape = [g shapeOfTensor:x name:nil];
    MPSGraphTensor *batch = part(g, shape, 0, 1), *rest = part(g, shape, 1, 2), *last = part(g, shape, -1, 1);
    MPSGraphTensor *open = integers(g, {-1}), *five = integers(g, {5}), *two = scalar(g, 2, MPSDataTypeInt32);
    MPSGraphTensor* flat = reshaped(g, x, batch, open);
    MPSGraphTensor* merged = times(g, part(g, shape, 0, 1), part(g, shape, 1, 1));
    MPSGraphTensor* tall = reshaped(g, x, merged, last);
    MPSGraphTensor* line = [g reshapeTensor:x
                            withShapeTensor:[g reductionProductWithTensor:shape axis:0 name:nil]
                                       name:nil];
    NSArray* pieces = list(five, batch, last);
    MPSGraphTensor* many = [g broadcastTensor:row toShapeTensor:[g concatTensors:pieces dimension:0 name:nil] name:nil];
    MPSGraphTensor* doubled = times(g, batch, two);
    MPSGraphTensor* joined_wide = [g concatTensor:[g castTensor:doubled toType:MPSDataTypeInt64 name:nil]
                                       withTensor:[g castTensor:last toType:MPSDataTypeInt64 name:nil]
                                        dimension:0
                                             name:nil];
    MPSGraphTensor* twice = [g broadcastTensor:row toShapeTensor:joined_wide name:nil];
    MPSGraphTensor* same = reshaped(g, [g squareWithTensor:flat name:nil], batch, rest);
    MPSGraphTensor* loss = total_of(g, times(g, same, x));
    MPSGraphTensor* all = total_of(g, many);
    MPSGraphTensor* dx = gradient_of(g, loss, x);
    MPSGraphTensor* drow = gradient_of(g, all, row);
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

int main(int count, char** arguments) { return check::run(count, arguments); }
