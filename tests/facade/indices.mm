// Ops that make tensors of indices, and those that take or put elements by them: values and types.

#include "graph_testing.h"

static void one_hot() {
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
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(indices);
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeFloat32));
  MPSGraphTensor* floats = [g castTensor:x toType:MPSDataTypeFloat32 name:nil];
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:floats depth:3 name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt64 name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeInt64));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:4 axis:0 name:nil]),
                     expected(first, 0, 1, 0, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:2 axis:1 dataType:MPSDataTypeInt32 name:nil]),
                     expected({2, 2, 3}, 1, 1, 0, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(
      0, session.run([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt32 onValue:7 offValue:-2 name:nil]),
      expected(last, 2, 7, -2, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g oneHotWithIndicesTensor:x
                                                      depth:4
                                                       axis:0
                                                   dataType:MPSDataTypeFloat32
                                                    onValue:0.5
                                                   offValue:3
                                                       name:nil]),
                     expected(first, 0, 0.5, 3, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 axis:static_cast<NSUInteger>(-1) name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeFloat32));
}

static void gather_tuples() {
  const Array x = random_array({2, 3, 4}), pairs({3, 2}, {1, 2, 0, 1, 1, 0}, MPSDataTypeInt32),
              of_batch({2, 5, 1}, {2, 0, 1, 1, 2, 0, 0, 2, 1, 0}, MPSDataTypeInt64);
  Array rows({3, 4}), batch({2, 5, 4});
  for_each_index(rows.shape, [&](const Index& i) {
    rows.at(i) = x.at({static_cast<long>(pairs.at({i[0], 0})), static_cast<long>(pairs.at({i[0], 1})), i[1]});
  });
  for_each_index(batch.shape, [&](const Index& i) {
    batch.at(i) = x.at({i[0], static_cast<long>(of_batch.at({i[0], i[1], 0})), i[2]});
  });
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* source = session.feed(x);
  CHECK_ARRAY_WITHIN(
      0, session.run([g gatherNDWithUpdatesTensor:source indicesTensor:session.feed(pairs) batchDimensions:0 name:nil]),
      rows);
  CHECK_ARRAY_WITHIN(0,
                     session.run([g gatherNDWithUpdatesTensor:source
                                                indicesTensor:session.feed(of_batch)
                                              batchDimensions:1
                                                         name:nil]),
                     batch);
}

// `index` with what `indices` has there in place of its position along the axis.
static Index replaced(Index index, const Array& indices, size_t axis) {
  const long place = static_cast<long>(indices.at(index));
  index.at(axis) = place;
  return index;
}

static void gather_along_an_axis() {
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
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* source = session.feed(x);
  CHECK_ARRAY_WITHIN(
      0, session.run([g gatherAlongAxis:1 withUpdatesTensor:source indicesTensor:session.feed(indices) name:nil]),
      expected(indices, 1));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g gatherAlongAxisTensor:[g constantWithScalar:-1 dataType:MPSDataTypeInt32]
                                        withUpdatesTensor:source
                                            indicesTensor:session.feed(last)
                                                     name:nil]),
                     expected(last, 2));
  CHECK_RAISES([g gatherAlongAxisTensor:placeholder(g, {1}, MPSDataTypeInt32)
                      withUpdatesTensor:source
                          indicesTensor:session.feed(last)
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

static void scatter_tuples() {
  const Array data = signed_array({2, 3, 4}), updates = signed_array({2, 5, 4}),
              tuples({2, 5, 1}, {2, 0, 1, 1, 2, 0, 0, 2, 1, 0}, MPSDataTypeInt32), pair_updates = signed_array({4}),
              pairs({4, 2}, {1, 2, 0, 1, 1, 2, 0, 3}, MPSDataTypeInt32);
  const auto in_batch = [&](const Index& i) {
    return Index{i[0], static_cast<long>(tuples.at({i[0], i[1], 0})), i[2]};
  };
  const auto to_pair = [&](const Index& i) {
    return Index{static_cast<long>(pairs.at({i[0], 0})), static_cast<long>(pairs.at({i[0], 1}))};
  };
  for (const Mode& mode : kModes) {
    Session session;
    MPSGraph* g = session.graph();
    CHECK_ARRAY(session.run([g scatterNDWithDataTensor:session.feed(data)
                                         updatesTensor:session.feed(updates)
                                         indicesTensor:session.feed(tuples)
                                       batchDimensions:1
                                                  mode:mode.mode
                                                  name:nil]),
                scattered(data, updates, mode, in_batch));
    CHECK_ARRAY(session.run([g scatterNDWithUpdatesTensor:session.feed(pair_updates)
                                            indicesTensor:session.feed(pairs)
                                                    shape:numbers({2, 4})
                                          batchDimensions:0
                                                     mode:mode.mode
                                                     name:nil]),
                scattered(Array({2, 4}, mode.start), pair_updates, mode, to_pair));
  }
  const Mode set = {MPSGraphScatterModeSet, 0, [](double, double u) { return u; }};
  const Array two = signed_array({2}), places({2, 2}, {1, 2, 0, 1}, MPSDataTypeInt32), whole = random_array({2, 4});
  Session session;
  MPSGraph* g = session.graph();
  CHECK_ARRAY_WITHIN(0,
                     session.run([g scatterNDWithDataTensor:session.feed(whole)
                                              updatesTensor:session.feed(two)
                                              indicesTensor:session.feed(places)
                                            batchDimensions:0
                                                       mode:MPSGraphScatterModeSet
                                                       name:nil]),
                     scattered(whole, two, set, to_pair));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g scatterNDWithUpdatesTensor:session.feed(two)
                                                 indicesTensor:session.feed(places)
                                                         shape:numbers({2, 4})
                                               batchDimensions:0
                                                          mode:MPSGraphScatterModeSet
                                                          name:nil]),
                     scattered(Array({2, 4}), two, set, to_pair));
}

static void scatter_slices() {
  const Array data = signed_array({2, 3, 4}), updates = signed_array({2, 5, 4}),
              places({5}, {2, 0, 7, 2, 0}, MPSDataTypeInt32);
  const auto to = [&](Index i) {
    i[1] = static_cast<long>(places.at({i[1]}));
    return i;
  };
  for (const Mode& mode : kModes) {
    Session session;
    MPSGraph* g = session.graph();
    CHECK_ARRAY(session.run([g scatterWithDataTensor:session.feed(data)
                                       updatesTensor:session.feed(updates)
                                       indicesTensor:session.feed(places)
                                                axis:1
                                                mode:mode.mode
                                                name:nil]),
                scattered(data, updates, mode, to));
    CHECK_ARRAY(session.run([g scatterWithUpdatesTensor:session.feed(updates)
                                          indicesTensor:session.feed(places)
                                                  shape:numbers({2, 3, 4})
                                                   axis:-2
                                                   mode:mode.mode
                                                   name:nil]),
                scattered(Array({2, 3, 4}, mode.start), updates, mode, to));
  }
}

static void scatter_along_an_axis() {
  const Array data = signed_array({2, 3, 4}), updates = signed_array({2, 5, 4}), last_updates = signed_array({2, 3, 6}),
              places({2, 5, 4}, random_integers({2, 5, 4}, -1, 3).values, MPSDataTypeInt32),
              last({2, 3, 6}, random_integers({2, 3, 6}, 0, 3).values, MPSDataTypeInt32);
  const auto to = [&](const Index& i) { return replaced(i, places, 1); };
  const auto to_last = [&](const Index& i) { return replaced(i, last, 2); };
  for (const Mode& mode : kModes) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor *x = session.feed(data), *u = session.feed(updates), *at = session.feed(places),
                   *v = session.feed(last_updates), *there = session.feed(last),
                   *axis = [g constantWithScalar:2 dataType:MPSDataTypeInt32];
    const Array start({2, 3, 4}, mode.start);
    CHECK_ARRAY(session.run([g scatterAlongAxis:1
                                 withDataTensor:x
                                  updatesTensor:u
                                  indicesTensor:at
                                           mode:mode.mode
                                           name:nil]),
                scattered(data, updates, mode, to));
    CHECK_ARRAY(session.run([g scatterAlongAxisTensor:axis
                                       withDataTensor:x
                                        updatesTensor:v
                                        indicesTensor:there
                                                 mode:mode.mode
                                                 name:nil]),
                scattered(data, last_updates, mode, to_last));
    CHECK_ARRAY(session.run([g scatterAlongAxis:-2
                              withUpdatesTensor:u
                                  indicesTensor:at
                                          shape:numbers({2, 3, 4})
                                           mode:mode.mode
                                           name:nil]),
                scattered(start, updates, mode, to));
    CHECK_ARRAY(session.run([g scatterAlongAxisTensor:axis
                                    withUpdatesTensor:v
                                        indicesTensor:there
                                                shape:numbers({2, 3, 4})
                                                 mode:mode.mode
                                                 name:nil]),
                scattered(start, last_updates, mode, to_last));
  }
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

static void sort() {
  const Array x = random_integers({3, 7, 4}, -4, 4, MPSDataTypeInt32);  // with ties
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *source = session.feed(x), *axis = [g constantWithScalar:0 dataType:MPSDataTypeInt32];
  const Array middle = positions(x, 1, false), last = positions(x, 2, true), first = positions(x, 0, false),
              turned = positions(x, 0, true);
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axis:1 name:nil]), middle);
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axis:-1 descending:YES name:nil]), last);
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axisTensor:axis name:nil]), first);
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axisTensor:axis descending:YES name:nil]), turned);
  CHECK_ARRAY_WITHIN(0, session.run([g sortWithTensor:source axis:1 name:nil]), elements(x, middle, 1));
  CHECK_ARRAY_WITHIN(0, session.run([g sortWithTensor:source axis:-1 descending:YES name:nil]), elements(x, last, 2));
  CHECK_ARRAY_WITHIN(0, session.run([g sortWithTensor:source axisTensor:axis name:nil]), elements(x, first, 0));
  CHECK_ARRAY_WITHIN(0, session.run([g sortWithTensor:source axisTensor:axis descending:YES name:nil]),
                     elements(x, turned, 0));
  CHECK_GRADIENTS(
      [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& a) {
        return [graph sortWithTensor:a.at(0) axis:0 descending:YES name:nil];
      },
      {distinct_array({5, 3})});
}

// NaN is the greatest, and -0 equals 0.
static void order_of_special_numbers() {
  const double nan = std::nan("");
  const Array x({7}, {0, nan, -0.0, INFINITY, -1, nan, -INFINITY});
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* source = session.feed(x);
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axis:0 name:nil]),
                     Array({7}, {6, 4, 0, 2, 3, 1, 5}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([g argSortWithTensor:source axis:0 descending:YES name:nil]),
                     Array({7}, {1, 5, 3, 0, 2, 4, 6}, MPSDataTypeInt32));
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

static void top_k() {
  const Array x = distinct_array({3, 9, 4}), last = positions(x, 2, true, 2), g_last = random_array(last.shape);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *source = session.feed(x), *k = [g constantWithScalar:2 dataType:MPSDataTypeInt32],
                 *gradient = session.feed(g_last);
  check_kept(session, [g topKWithSourceTensor:source k:2 name:nil], x, last, 2);
  check_kept(session, [g topKWithSourceTensor:source kTensor:k name:nil], x, last, 2);
  CHECK_ARRAY_WITHIN(0, session.run([g topKWithGradientTensor:gradient source:source k:2 name:nil]),
                     spread(g_last, last, 2, x.shape));
  CHECK_ARRAY_WITHIN(0, session.run([g topKWithGradientTensor:gradient source:source kTensor:k name:nil]),
                     spread(g_last, last, 2, x.shape));
  CHECK_RAISES([g topKWithSourceTensor:source k:5 name:nil]);
  CHECK_GRADIENTS(
      [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& a) {
        return [[graph topKWithSourceTensor:a.at(0) k:3 name:nil] objectAtIndex:0];
      },
      {distinct_array({3, 6})});
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
static void top_k_along_an_axis() {
  Session session;
  MPSGraph* g = session.graph();
  if (![g respondsToSelector:@selector(topKWithSourceTensor:axis:k:name:)]) return;  // before macOS 14
  const Array x = distinct_array({3, 9, 4}), most = positions(x, 1, true, 3), least = positions(x, 1, false, 3),
              incoming = random_array(most.shape);
  MPSGraphTensor *source = session.feed(x), *k = [g constantWithScalar:3 dataType:MPSDataTypeInt32],
                 *axis = [g constantWithScalar:1 dataType:MPSDataTypeInt32], *gradient = session.feed(incoming);
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

static Array running(const std::string& operation, const Array& x, size_t axis, bool exclusive, bool reverse) {
  const auto combine = [&](double a, double b) {
    if (operation == "Sum") return a + b;
    if (operation == "Product") return a * b;
    return operation == "Minimum" ? std::fmin(a, b) : std::fmax(a, b);
  };
  constexpr double most = std::numeric_limits<float>::max();
  const double start = operation == "Sum" ? 0 : operation == "Product" ? 1 : operation == "Minimum" ? most : -most;
  Array y(x.shape);
  Shape lines = x.shape;
  lines.at(axis) = 1;
  for_each_index(lines, [&](Index i) {
    double total = start;
    for (long n = 0; n < x.shape.at(axis); ++n) {
      i.at(axis) = reverse ? x.shape.at(axis) - 1 - n : n;
      const double with = combine(total, x.at(i));
      y.at(i) = exclusive ? total : with;
      total = with;
    }
  });
  return y;
}

static void cumulative(const Shape& shape) {
  Array values = signed_array(shape);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *x = session.feed(values), *first = [g constantWithScalar:0 dataType:MPSDataTypeInt32];
  for (const BOOL exclusive : {NO, YES}) {
    for (const BOOL reverse : {NO, YES}) {
      CHECK_ARRAY(session.run([g cumulativeSumWithTensor:x axis:1 exclusive:exclusive reverse:reverse name:nil]),
                  running("Sum", values, 1, exclusive, reverse));
      CHECK_ARRAY(session.run([g cumulativeSumWithTensor:x
                                              axisTensor:first
                                               exclusive:exclusive
                                                 reverse:reverse
                                                    name:nil]),
                  running("Sum", values, 0, exclusive, reverse));
    }
  }
  CHECK_ARRAY(session.run([g cumulativeSumWithTensor:x axis:-1 name:nil]), running("Sum", values, 2, false, false));
  CHECK_ARRAY(session.run([g cumulativeSumWithTensor:x axisTensor:first name:nil]),
              running("Sum", values, 0, false, false));
  for (const BOOL exclusive : {NO, YES}) {
    for (const BOOL reverse : {NO, YES}) {
      CHECK_ARRAY(session.run([g cumulativeProductWithTensor:x axis:1 exclusive:exclusive reverse:reverse name:nil]),
                  running("Product", values, 1, exclusive, reverse));
      CHECK_ARRAY(session.run([g cumulativeProductWithTensor:x
                                                  axisTensor:first
                                                   exclusive:exclusive
                                                     reverse:reverse
                                                        name:nil]),
                  running("Product", values, 0, exclusive, reverse));
    }
  }
  CHECK_ARRAY(session.run([g cumulativeProductWithTensor:x axis:-1 name:nil]),
              running("Product", values, 2, false, false));
  CHECK_ARRAY(session.run([g cumulativeProductWithTensor:x axisTensor:first name:nil]),
              running("Product", values, 0, false, false));
  for (const BOOL exclusive : {NO, YES}) {
    for (const BOOL reverse : {NO, YES}) {
      CHECK_ARRAY(session.run([g cumulativeMinimumWithTensor:x axis:1 exclusive:exclusive reverse:reverse name:nil]),
                  running("Minimum", values, 1, exclusive, reverse));
      CHECK_ARRAY(session.run([g cumulativeMinimumWithTensor:x
                                                  axisTensor:first
                                                   exclusive:exclusive
                                                     reverse:reverse
                                                        name:nil]),
                  running("Minimum", values, 0, exclusive, reverse));
    }
  }
  CHECK_ARRAY(session.run([g cumulativeMinimumWithTensor:x axis:-1 name:nil]),
              running("Minimum", values, 2, false, false));
  CHECK_ARRAY(session.run([g cumulativeMinimumWithTensor:x axisTensor:first name:nil]),
              running("Minimum", values, 0, false, false));
  for (const BOOL exclusive : {NO, YES}) {
    for (const BOOL reverse : {NO, YES}) {
      CHECK_ARRAY(session.run([g cumulativeMaximumWithTensor:x axis:1 exclusive:exclusive reverse:reverse name:nil]),
                  running("Maximum", values, 1, exclusive, reverse));
      CHECK_ARRAY(session.run([g cumulativeMaximumWithTensor:x
                                                  axisTensor:first
                                                   exclusive:exclusive
                                                     reverse:reverse
                                                        name:nil]),
                  running("Maximum", values, 0, exclusive, reverse));
    }
  }
  CHECK_ARRAY(session.run([g cumulativeMaximumWithTensor:x axis:-1 name:nil]),
              running("Maximum", values, 2, false, false));
  CHECK_ARRAY(session.run([g cumulativeMaximumWithTensor:x axisTensor:first name:nil]),
              running("Maximum", values, 0, false, false));
  const double nan = std::nan("");
  const Array numbers({5}, {nan, 2, nan, 1, 3});
  MPSGraphTensor* some = session.feed(numbers);
  CHECK_ARRAY_WITHIN(0, session.run([g cumulativeMinimumWithTensor:some axis:0 name:nil]),
                     Array({5}, {nan, 2, 2, 1, 1}));
  CHECK_ARRAY_WITHIN(0, session.run([g cumulativeMaximumWithTensor:some axis:0 exclusive:NO reverse:YES name:nil]),
                     Array({5}, {3, 3, 3, 3, 3}));
}

// Of the totals' parts, with zeros among the factors, and of the extremes without their elements.
static void gradients_of_cumulative() {
  const Array factors({2, 4}, {2, 0, 3, -1, 1, 2, 0, 0});
  CHECK_GRADIENTS(
      [](MPSGraph* g, const std::vector<MPSGraphTensor*>& a) {
        return [g cumulativeProductWithTensor:a.at(0) axis:1 exclusive:YES reverse:NO name:nil];
      },
      {factors});
  CHECK_GRADIENTS(
      [](MPSGraph* g, const std::vector<MPSGraphTensor*>& a) {
        MPSGraphTensor* most = [g cumulativeMaximumWithTensor:a.at(0) axis:0 exclusive:NO reverse:YES name:nil];
        return [g additionWithPrimaryTensor:most
                            secondaryTensor:[g cumulativeMinimumWithTensor:a.at(0) axis:1 name:nil]
                                       name:nil];
      },
      {distinct_array({5, 3})});
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

static void sparse_matrices() {
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
        NSArray* tensors = [NSArray arrayWithObjects:session.feed(stored.elements), session.feed(stored.first),
                                                     session.feed(stored.second), nil];
        MPSGraphTensor* y = [g sparseTensorWithType:storage
                                            tensors:tensors
                                              shape:numbers(x.shape)
                                           dataType:MPSDataTypeFloat32
                                               name:@"sparse"];
        MPSGraphCreateSparseOpDescriptor* d =
            [MPSGraphCreateSparseOpDescriptor descriptorWithStorageType:storage dataType:MPSDataTypeFloat32];
        MPSGraphTensor* same = [g sparseTensorWithDescriptor:d tensors:tensors shape:numbers(x.shape) name:nil];
        MPSGraphTensor* product = [g matrixMultiplicationWithPrimaryTensor:y
                                                           secondaryTensor:session.feed(other)
                                                                      name:nil];
        Array expected({x.shape.at(0), 2});
        for_each_index({x.shape.at(0), 2, x.shape.at(1)}, [&](const Index& i) {
          expected.at({i.at(0), i.at(1)}) += x.at({i.at(0), i.at(2)}) * other.at({i.at(2), i.at(1)});
        });
        const std::vector<Array> found = session.run({y, same, product});
        CHECK_ARRAY_WITHIN(0, found.at(0), x);
        CHECK_ARRAY_WITHIN(0, found.at(1), x);
        CHECK_ARRAY(found.at(2), expected);
      }
      const Stored stored(x, storage, MPSDataTypeInt32);
      CHECK_GRADIENTS(
          [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
            NSArray* tensors =
                [NSArray arrayWithObjects:t.at(0), constant(g, stored.first), constant(g, stored.second), nil];
            return [g sparseTensorWithType:storage
                                   tensors:tensors
                                     shape:numbers(x.shape)
                                  dataType:MPSDataTypeFloat32
                                      name:nil];
          },
          {stored.elements});
    }
  }
  MPSGraphCreateSparseOpDescriptor* d = [[MPSGraphCreateSparseOpDescriptor new] autorelease];
  [d setSparseStorageType:MPSGraphSparseStorageCSC];
  [d setDataType:MPSDataTypeFloat16];
  MPSGraphCreateSparseOpDescriptor* copy = [[d copy] autorelease];
  CHECK([copy sparseStorageType] == MPSGraphSparseStorageCSC && [copy dataType] == MPSDataTypeFloat16);
}

#ifndef __APPLE__
static void sparse_matrices_that_are_refused() {
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
static void boxes_are_refused() {
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

int main() {
  @autoreleasepool {
    sparse_matrices();
#ifndef __APPLE__
    sparse_matrices_that_are_refused();
    boxes_are_refused();
#endif
    one_hot();
    gather_tuples();
    gather_along_an_axis();
    scatter_tuples();
    scatter_slices();
    scatter_along_an_axis();
    sort();
    order_of_special_numbers();
    top_k();
#ifndef __APPLE__
    top_k_along_an_axis();
#endif
    cumulative({2, 5, 3});
    cumulative({1, 1, 3});  // along one element
    gradients_of_cumulative();
  }
  return check::summary();
}
