// Ops that make tensors of indices, and those that take or put elements by them: values and types.

#include "graph_testing.h"

TEST(one_hot) {
  const Array indices({2, 3}, {0, 2, -1, 1, 3, 2}, MPSDataTypeInt32);
  const Shape last = {2, 3, 3}, first = {4, 2, 3};
  const auto expected = [&](const Shape& shape, size_t axis, double on, double off, MPSDataType type) {
    Array y(shape, std::vector<double>(static_cast<size_t>(shape.at(0) * shape.at(1) * shape.at(2))), type);
    for_each_index(shape, [&](Index i) {
      const long place = i.at(axis);
      i.erase(i.begin() + static_cast<long>(axis));
      const Index at = i;
      i.insert(i.begin() + static_cast<long>(axis), place);
      y.at(i) = static_cast<long>(indices.at(at)) == place ? on : off;
    });
    return y;
  };
  CHECK_WAYS(indices, expected(last, 2, 1, 0, MPSDataTypeFloat32), WAY([g oneHotWithIndicesTensor:x depth:3 name:nil]),
             WAY([g oneHotWithIndicesTensor:[g castTensor:x toType:MPSDataTypeFloat32 name:nil] depth:3 name:nil]),
             WAY([g oneHotWithIndicesTensor:x depth:3 axis:unsign(-1) name:nil]));
  CHECK_WAYS(indices, expected(last, 2, 1, 0, MPSDataTypeInt64),
             WAY([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt64 name:nil]));
  CHECK_WAYS(indices, expected(first, 0, 1, 0, MPSDataTypeFloat32),
             WAY([g oneHotWithIndicesTensor:x depth:4 axis:0 name:nil]));
  CHECK_WAYS(indices, expected({2, 2, 3}, 1, 1, 0, MPSDataTypeInt32),
             WAY([g oneHotWithIndicesTensor:x depth:2 axis:1 dataType:MPSDataTypeInt32 name:nil]));
  CHECK_WAYS(indices, expected(last, 2, 7, -2, MPSDataTypeInt32),
             WAY([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt32 onValue:7 offValue:-2 name:nil]));
  CHECK_WAYS(indices, expected(first, 0, 0.5, 3, MPSDataTypeFloat32),
             WAY([g oneHotWithIndicesTensor:x
                                      depth:4
                                       axis:0
                                   dataType:MPSDataTypeFloat32
                                    onValue:0.5
                                   offValue:3
                                       name:nil]));
}

// `index` with what `indices` has there in place of its position along the axis.
static Index replaced(Index index, const Array& indices, size_t axis) {
  const long place = static_cast<long>(indices.at(index));
  index.at(axis) = place;
  return index;
}

TEST(gather_along_an_axis) {
  const Array x = random_array({2, 3, 4}),
              indices({2, 5, 4}, random_integers({2, 5, 4}, -1, 3).values, MPSDataTypeInt32),
              last({2, 3, 2}, random_integers({2, 3, 2}, 0, 3).values, MPSDataTypeInt32);
  const auto expected = [&](const Array& places, size_t axis) {
    Array y(places.shape);
    for_each_index(y.shape, [&](const Index& i) {
      const Index from = replaced(i, places, axis);
      const bool is_inside = from.at(axis) >= 0 && from.at(axis) < x.shape.at(axis);
      y.at(i) = is_inside ? x.at(from) : 0;
    });
    return y;
  };
  CHECK_WAYS(x, expected(indices, 1),
             WAY([g gatherAlongAxis:1 withUpdatesTensor:x indicesTensor:constant(g, indices) name:nil]));
  CHECK_WAYS(x, expected(last, 2),
             WAY([g gatherAlongAxisTensor:scalar(g, -1, MPSDataTypeInt32)
                        withUpdatesTensor:x
                            indicesTensor:constant(g, last)
                                     name:nil]));
  Session session;
  MPSGraphTensor *unknown = placeholder(session.graph(), {1}, MPSDataTypeInt32), *at = session.feed(last);
  CHECK_RAISES([session.graph() gatherAlongAxisTensor:unknown
                                    withUpdatesTensor:session.feed(x)
                                        indicesTensor:at
                                                 name:nil]);
}

// ---- scatter ----

struct Mode {
  MPSGraphScatterMode mode;
  double start;
  double (*combine)(double x, double update);
};
static const Mode kModes[] = {
    {MPSGraphScatterModeAdd, 0, [](double x, double u) { return x + u; }},
    {MPSGraphScatterModeSub, 0, [](double x, double u) { return x - u; }},
    {MPSGraphScatterModeMul, 1, [](double x, double u) { return x * u; }},
    {MPSGraphScatterModeDiv, 1, [](double x, double u) { return x / u; }},
    {MPSGraphScatterModeMin, std::numeric_limits<float>::max(), [](double x, double u) { return std::min(x, u); }},
    {MPSGraphScatterModeMax, std::numeric_limits<float>::lowest(), [](double x, double u) { return std::max(x, u); }},
};

// The data with each update combined into its place.
static Array scattered(Array data, const Array& updates, const Mode& mode,
                       const std::function<Index(const Index&)>& to) {
  for_each_index(updates.shape, [&](const Index& i) {
    const Index place = to(i);
    for (size_t axis = 0; axis < place.size(); ++axis) {
      if (place.at(axis) < 0 || place.at(axis) >= data.shape.at(axis)) return;
    }
    data.at(place) = mode.combine(data.at(place), updates.at(i));
  });
  return data;
}

// The updates put into a start value's places: by tuples, by slices, along an axis.
TEST(scatter) {
  const Array data = signed_array({2, 3, 4}), updates = signed_array({2, 5, 4}), last_updates = signed_array({2, 3, 6}),
              pair_updates = signed_array({4}), pairs({4, 2}, {1, 2, 0, 1, 1, 2, 0, 3}, MPSDataTypeInt32),
              rows({5}, {2, 0, 7, 2, 0}, MPSDataTypeInt32), places = random_integers({2, 5, 4}, -1, 3),
              last = random_integers({2, 3, 6}, 0, 3);
  const auto to_pair = [&](const Index& i) {
    return Index{static_cast<long>(pairs.at({i[0], 0})), static_cast<long>(pairs.at({i[0], 1}))};
  };
  const auto to_row = [&](const Index& i) { return Index{i[0], static_cast<long>(rows.at({i[1]})), i[2]}; };
  const auto to = [&](const Index& i) { return replaced(i, places, 1); };
  const auto to_last = [&](const Index& i) { return replaced(i, last, 2); };
  NSArray* shape = numbers({2, 3, 4});
  for (const Mode& mode : kModes) {
    const Array start({2, 3, 4}, mode.start);
    CHECK_WAYS_WITHIN(1e-5, pair_updates, scattered(Array({2, 4}, mode.start), pair_updates, mode, to_pair),
                      WAY([g scatterNDWithUpdatesTensor:x
                                          indicesTensor:constant(g, pairs)
                                                  shape:numbers({2, 4})
                                        batchDimensions:0
                                                   mode:mode.mode
                                                   name:nil]));
    CHECK_WAYS_WITHIN(1e-5, updates, scattered(start, updates, mode, to_row),
                      WAY([g scatterWithUpdatesTensor:x
                                        indicesTensor:constant(g, rows)
                                                shape:shape
                                                 axis:-2
                                                 mode:mode.mode
                                                 name:nil]));
    CHECK_WAYS_WITHIN(1e-5, updates, scattered(data, updates, mode, to),
                      WAY([g scatterAlongAxis:1
                               withDataTensor:constant(g, data)
                                updatesTensor:x
                                indicesTensor:constant(g, places)
                                         mode:mode.mode
                                         name:nil]));
    CHECK_WAYS_WITHIN(1e-5, updates, scattered(start, updates, mode, to),
                      WAY([g scatterAlongAxis:-2
                            withUpdatesTensor:x
                                indicesTensor:constant(g, places)
                                        shape:shape
                                         mode:mode.mode
                                         name:nil]));
    CHECK_WAYS_WITHIN(1e-5, last_updates, scattered(data, last_updates, mode, to_last),
                      WAY([g scatterAlongAxisTensor:scalar(g, 2, MPSDataTypeInt32)
                                     withDataTensor:constant(g, data)
                                      updatesTensor:x
                                      indicesTensor:constant(g, last)
                                               mode:mode.mode
                                               name:nil]));
    CHECK_WAYS_WITHIN(1e-5, last_updates, scattered(start, last_updates, mode, to_last),
                      WAY([g scatterAlongAxisTensor:scalar(g, 2, MPSDataTypeInt32)
                                  withUpdatesTensor:x
                                      indicesTensor:constant(g, last)
                                              shape:shape
                                               mode:mode.mode
                                               name:nil]));
  }
  const Array two = signed_array({2}), tuples({2, 2}, {1, 2, 0, 1}, MPSDataTypeInt32);
  Array set({2, 4});
  set.at({1, 2}) = two.at({0});
  set.at({0, 1}) = two.at({1});
  CHECK_WAYS(two, set,
             WAY([g scatterNDWithUpdatesTensor:x
                                 indicesTensor:constant(g, tuples)
                                         shape:numbers({2, 4})
                               batchDimensions:0
                                          mode:MPSGraphScatterModeSet
                                          name:nil]));
}

// ---- order ----

// The positions along the axis in order, the first `count` of them.
static Array positions(const Array& x, size_t axis, bool descending, long count = -1) {
  const long extent = x.shape.at(axis);
  Shape shape = x.shape, lines = x.shape;
  shape.at(axis) = count < 0 ? extent : count;
  lines.at(axis) = 1;
  Array y(shape, 0, MPSDataTypeInt32);
  for_each_index(lines, [&](Index i) {
    std::vector<std::pair<double, long>> line;
    for (i.at(axis) = 0; i.at(axis) < extent; ++i.at(axis)) {
      line.emplace_back(descending ? -x.at(i) : x.at(i), i.at(axis));
    }
    std::sort(line.begin(), line.end());
    for (i.at(axis) = 0; i.at(axis) < shape.at(axis); ++i.at(axis)) {
      y.at(i) = static_cast<double>(line.at(static_cast<size_t>(i.at(axis))).second);
    }
  });
  return y;
}

static Array elements(const Array& x, const Array& at, size_t axis) {
  Array y(at.shape, 0, x.type);
  for_each_index(y.shape, [&](const Index& i) { y.at(i) = x.at(replaced(i, at, axis)); });
  return y;
}

TEST(sort) {
  const Array x = random_integers({3, 7, 4}, -4, 4, MPSDataTypeInt32);  // with ties
  const Array middle = positions(x, 1, false), last = positions(x, 2, true), first = positions(x, 0, false),
              turned = positions(x, 0, true);
  CHECK_WAYS(x, middle, WAY([g argSortWithTensor:x axis:1 name:nil]));
  CHECK_WAYS(x, last, WAY([g argSortWithTensor:x axis:-1 descending:YES name:nil]));
  CHECK_WAYS(x, first, WAY([g argSortWithTensor:x axisTensor:scalar(g, 0, MPSDataTypeInt32) name:nil]));
  CHECK_WAYS(x, turned, WAY([g argSortWithTensor:x axisTensor:scalar(g, 0, MPSDataTypeInt32) descending:YES name:nil]));
  CHECK_WAYS(x, elements(x, middle, 1), WAY([g sortWithTensor:x axis:1 name:nil]));
  CHECK_WAYS(x, elements(x, last, 2), WAY([g sortWithTensor:x axis:-1 descending:YES name:nil]));
  CHECK_WAYS(x, elements(x, first, 0), WAY([g sortWithTensor:x axisTensor:scalar(g, 0, MPSDataTypeInt32) name:nil]));
  CHECK_WAYS(x, elements(x, turned, 0),
             WAY([g sortWithTensor:x axisTensor:scalar(g, 0, MPSDataTypeInt32) descending:YES name:nil]));
}

static void check_kept(Session& session, NSArray<MPSGraphTensor*>* results, const Array& x, const Array& at,
                       size_t axis) {
  CHECK([results count] == 2);
  CHECK_ARRAY_WITHIN(0, session.run([results objectAtIndex:0]), elements(x, at, axis));
  CHECK_ARRAY_WITHIN(0, session.run([results objectAtIndex:1]), at);
}

// `gradient` at the places of what was kept, in zeros.
static Array spread(const Array& gradient, const Array& at, size_t axis, const Shape& shape) {
  Array y(shape);
  for_each_index(gradient.shape, [&](const Index& i) { y.at(replaced(i, at, axis)) = gradient.at(i); });
  return y;
}

TEST(top_k) {
  const Array x = distinct_array({3, 9, 4}), last = positions(x, 2, true, 2), g_last = random_array(last.shape);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *source = session.feed(x), *k = scalar(g, 2, MPSDataTypeInt32), *gradient = session.feed(g_last);
  check_kept(session, [g topKWithSourceTensor:source k:2 name:nil], x, last, 2);
  check_kept(session, [g topKWithSourceTensor:source kTensor:k name:nil], x, last, 2);
  CHECK_ARRAY_WITHIN(0, session.run([g topKWithGradientTensor:gradient source:source k:2 name:nil]),
                     spread(g_last, last, 2, x.shape));
  CHECK_ARRAY_WITHIN(0, session.run([g topKWithGradientTensor:gradient source:source kTensor:k name:nil]),
                     spread(g_last, last, 2, x.shape));
  CHECK_RAISES([g topKWithSourceTensor:source k:5 name:nil]);
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
TEST(top_k_along_an_axis) {
  Session session;
  MPSGraph* g = session.graph();
  if (![g respondsToSelector:@selector(topKWithSourceTensor:axis:k:name:)]) return;  // before macOS 14
  const Array x = distinct_array({3, 9, 4}), most = positions(x, 1, true, 3), least = positions(x, 1, false, 3),
              incoming = random_array(most.shape);
  MPSGraphTensor *source = session.feed(x), *k = scalar(g, 3, MPSDataTypeInt32), *axis = scalar(g, 1, MPSDataTypeInt32),
                 *gradient = session.feed(incoming);
  check_kept(session, [g topKWithSourceTensor:source axis:1 k:3 name:nil], x, most, 1);
  check_kept(session, [g topKWithSourceTensor:source axisTensor:axis kTensor:k name:nil], x, most, 1);
  check_kept(session, [g bottomKWithSourceTensor:source axis:-2 k:3 name:nil], x, least, 1);
  check_kept(session, [g bottomKWithSourceTensor:source axisTensor:axis kTensor:k name:nil], x, least, 1);
  const Array to_most = spread(incoming, most, 1, x.shape), to_least = spread(incoming, least, 1, x.shape);
  CHECK_ARRAY_WITHIN(0, session.run([g topKWithGradientTensor:gradient source:source axis:1 k:3 name:nil]), to_most);
  CHECK_ARRAY_WITHIN(
      0, session.run([g topKWithGradientTensor:gradient source:source axisTensor:axis kTensor:k name:nil]), to_most);
  CHECK_ARRAY_WITHIN(0, session.run([g bottomKWithGradientTensor:gradient source:source axis:-2 k:3 name:nil]),
                     to_least);
  CHECK_ARRAY_WITHIN(
      0, session.run([g bottomKWithGradientTensor:gradient source:source axisTensor:axis kTensor:k name:nil]),
      to_least);
}
#endif

// ---- running totals ----

struct Running {
  const char* name;
  MPSGraphTensor* (*by_axis)(MPSGraph* g, MPSGraphTensor* x, NSInteger axis, BOOL exclusive, BOOL reverse);
  MPSGraphTensor* (*by_tensor)(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* axis, BOOL exclusive, BOOL reverse);
  MPSGraphTensor* (*plain_by_axis)(MPSGraph* g, MPSGraphTensor* x, NSInteger axis);
  MPSGraphTensor* (*plain_by_tensor)(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* axis);
  double start;
  double (*combine)(double total, double element);
};

#define RUNNING(stem)                                                                                           \
  #stem,                                                                                                        \
      [](MPSGraph* g, MPSGraphTensor* x, NSInteger axis, BOOL exclusive, BOOL reverse) {                        \
        return [g stem##WithTensor:x axis:axis exclusive:exclusive reverse:reverse name:nil];                   \
      },                                                                                                        \
      [](MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* axis, BOOL exclusive, BOOL reverse) {                  \
        return [g stem##WithTensor:x axisTensor:axis exclusive:exclusive reverse:reverse name:nil];             \
      },                                                                                                        \
      [](MPSGraph* g, MPSGraphTensor* x, NSInteger axis) { return [g stem##WithTensor:x axis:axis name:nil]; }, \
      [](MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* axis) {                                                \
        return [g stem##WithTensor:x axisTensor:axis name:nil];                                                 \
      }

static const Running kRunning[] = {
    {RUNNING(cumulativeSum), 0, [](double a, double b) { return a + b; }},
    {RUNNING(cumulativeProduct), 1, [](double a, double b) { return a * b; }},
    {RUNNING(cumulativeMinimum), std::numeric_limits<float>::max(), [](double a, double b) { return std::fmin(a, b); }},
    {RUNNING(cumulativeMaximum), std::numeric_limits<float>::lowest(),
     [](double a, double b) { return std::fmax(a, b); }},
};

static Array running(const Running& kind, const Array& x, size_t axis, bool exclusive, bool reverse) {
  Array y(x.shape);
  Shape lines = x.shape;
  lines.at(axis) = 1;
  for_each_index(lines, [&](Index i) {
    double total = kind.start;
    for (long n = 0; n < x.shape.at(axis); ++n) {
      i.at(axis) = reverse ? x.shape.at(axis) - 1 - n : n;
      const double with = kind.combine(total, x.at(i));
      y.at(i) = exclusive ? total : with;
      total = with;
    }
  });
  return y;
}

TEST(running_totals) {
  for (const Running& kind : kRunning) {
    for (const Shape& shape : {Shape{2, 5, 3}, Shape{1, 1, 3}}) {
      const Array x = signed_array(shape);
      Session session;
      MPSGraph* g = session.graph();
      MPSGraphTensor *tx = session.feed(x), *first = scalar(g, 0, MPSDataTypeInt32);
      const auto check = [&](MPSGraphTensor* y, size_t axis, bool exclusive, bool reverse) {
        check::report_array(session.run(y), running(kind, x, axis, exclusive, reverse), 1e-5, kind.name, __FILE__,
                            __LINE__);
      };
      for (const bool exclusive : {false, true}) {
        for (const bool reverse : {false, true}) {
          check(kind.by_axis(g, tx, 1, exclusive, reverse), 1, exclusive, reverse);
          check(kind.by_tensor(g, tx, first, exclusive, reverse), 0, exclusive, reverse);
        }
      }
      check(kind.plain_by_axis(g, tx, -1), 2, false, false);
      check(kind.plain_by_tensor(g, tx, first), 0, false, false);
    }
  }
}

// ---- sparse matrices ----

// The elements of a matrix that are not 0, with their places; in each storage these are others, or in another order.
struct Stored {
  MPSGraphSparseStorageType storage;
  Array elements, first, second;

  Stored(const Array& x, MPSGraphSparseStorageType how, MPSDataType type) : storage(how) {
    const bool by_columns = how == MPSGraphSparseStorageCSC;
    const long outer = x.shape.at(by_columns ? 1 : 0), inner = x.shape.at(by_columns ? 0 : 1);
    std::vector<double> values, lines, places, starts{0};
    for (long i = 0; i < outer; ++i) {
      for (long j = 0; j < inner; ++j) {
        const double v = by_columns ? x.at({j, i}) : x.at({i, j});
        if (v == 0) continue;
        values.push_back(v);
        lines.push_back(static_cast<double>(i));
        places.push_back(static_cast<double>(j));
      }
      starts.push_back(static_cast<double>(values.size()));
    }
    const auto vector = [](const std::vector<double>& v, MPSDataType of) {
      return Array({static_cast<long>(v.size())}, v, of);
    };
    const bool is_compressed = how != MPSGraphSparseStorageCOO;
    elements = vector(values, MPSDataTypeFloat32);
    first = vector(is_compressed ? places : lines, type);
    second = vector(is_compressed ? starts : places, type);
  }
};

TEST(sparse_matrices) {
  // An empty row, an empty column; a matrix of one row; one of one column.
  const Array wide({3, 4}, {0, 2, 0, 3, 0, 0, 0, 0, 5, 7, 0, 11}), row({1, 4}, {0, 3, 5, 0}),
      column({4, 1}, {0, 3, 0, 5});
  for (const Array& x : {wide, row, column}) {
    for (const auto storage : {MPSGraphSparseStorageCOO, MPSGraphSparseStorageCSC, MPSGraphSparseStorageCSR}) {
      for (const MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64}) {
        const Stored stored(x, storage, type);
        const Array other = random_array({x.shape.at(1), 2});
        Session session;
        MPSGraph* g = session.graph();
        NSArray* tensors = list(session.feed(stored.elements), session.feed(stored.first), session.feed(stored.second));
        MPSGraphTensor* y = [g sparseTensorWithType:storage
                                            tensors:tensors
                                              shape:numbers(x.shape)
                                           dataType:MPSDataTypeFloat32
                                               name:@"sparse"];
        MPSGraphCreateSparseOpDescriptor* d =
            [MPSGraphCreateSparseOpDescriptor descriptorWithStorageType:storage dataType:MPSDataTypeFloat32];
        MPSGraphTensor* same = [g sparseTensorWithDescriptor:d tensors:tensors shape:numbers(x.shape) name:nil];
        MPSGraphTensor* product = matmul(g, y, session.feed(other));
        Array expected({x.shape.at(0), 2});
        for_each_index({x.shape.at(0), 2, x.shape.at(1)}, [&](const Index& i) {
          expected.at({i.at(0), i.at(1)}) += x.at({i.at(0), i.at(2)}) * other.at({i.at(2), i.at(1)});
        });
        const std::vector<Array> found = session.run({y, same, product});
        CHECK_ARRAY_WITHIN(0, found.at(0), x);
        CHECK_ARRAY_WITHIN(0, found.at(1), x);
        CHECK_ARRAY(found.at(2), expected);
      }
    }
  }
}

#ifndef __APPLE__
TEST(sparse_matrices_that_are_refused) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *values = session.feed(random_array({2})), *two = session.feed(random_integers({2}, 0, 1)),
                 *three = session.feed(random_integers({3}, 0, 1));
  const auto sparse = [&](uint64_t storage, const std::vector<MPSGraphTensor*>& tensors, const Shape& shape,
                          MPSDataType type = MPSDataTypeFloat32) {
    NSMutableArray* all = [NSMutableArray array];
    for (MPSGraphTensor* tensor : tensors) [all addObject:tensor];
    return [g sparseTensorWithType:static_cast<MPSGraphSparseStorageType>(storage)
                           tensors:all
                             shape:numbers(shape)
                          dataType:type
                              name:nil];
  };
  CHECK_RAISES(sparse(3, {values, two, two}, {2, 2}));
  CHECK_RAISES(sparse(0, {values, two}, {2, 2}));
  CHECK_RAISES(sparse(0, {values, two, two}, {2, 2, 2}));
  CHECK_RAISES(sparse(0, {values, two, two}, {-1, 2}));
  CHECK_RAISES(sparse(0, {values, two, two}, {2, 2}, MPSDataTypeFloat16));
  CHECK_RAISES(sparse(0, {values, two, values}, {2, 2}));
  CHECK_RAISES(sparse(0, {values, two, three}, {2, 2}));
  CHECK_RAISES(sparse(0, {values, session.feed(random_integers({2, 1}, 0, 1)), two}, {2, 2}));
  CHECK_RAISES(sparse(2, {values, two, two}, {2, 3}));    // three starts
  CHECK_RAISES(sparse(1, {values, two, three}, {2, 3}));  // four starts
  // Elements of one place are added, those outside skipped.
  MPSGraphTensor* y =
      sparse(0,
             {session.feed(Array({4}, {1, 2, 4, 8})), session.feed(Array({4}, {1, 1, 0, 2}, MPSDataTypeInt32)),
              session.feed(Array({4}, {0, 0, 1, 1}, MPSDataTypeInt32))},
             {2, 2});
  CHECK_ARRAY(session.run(y), Array({2, 2}, {0, 4, 3, 0}));
}

// What Apple's framework makes of boxes is documented nowhere.
TEST(boxes_are_refused) {
  NSString* selector =
      @"nonMaximumSuppressionWithBoxesTensor:scoresTensor:IOUThreshold:scoreThreshold:perClassSuppression:"
      @"coordinateMode:name:";
  if (![MPSGraph instancesRespondToSelector:NSSelectorFromString(selector)]) return;
  Session session;
  MPSGraphTensor *boxes = session.feed(random_array({1, 3, 4})), *scores = session.feed(random_array({1, 3, 1})),
                 *classes = session.feed(random_integers({1, 3}, 0, 1));
  CHECK_RAISES([session.graph()
      nonMaximumSuppressionWithBoxesTensor:boxes
                              scoresTensor:scores
                              IOUThreshold:0.5F
                            scoreThreshold:0.1F
                       perClassSuppression:NO
                            coordinateMode:MPSGraphNonMaximumSuppressionCoordinateModeCornersHeightFirst
                                      name:nil]);
  CHECK_RAISES([session.graph()
      nonMaximumSuppressionWithBoxesTensor:boxes
                              scoresTensor:scores
                        classIndicesTensor:classes
                              IOUThreshold:0.5F
                            scoreThreshold:0.1F
                       perClassSuppression:YES
                            coordinateMode:MPSGraphNonMaximumSuppressionCoordinateModeCentersWidthFirst
                                      name:nil]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
