// Ops that cut tensors, put them together, repeat them, turn them around, move blocks of them or tell places, and those
// with bounds or axes in tensors: values, derivatives, and what is refused.

#include "graph_testing.h"

static MPSGraphTensor* integers(MPSGraph* g, const std::vector<long>& values, MPSDataType type = MPSDataTypeInt32) {
  return constant(g,
                  Array({static_cast<long>(values.size())}, std::vector<double>(values.begin(), values.end()), type));
}

static MPSGraphTensor* integer(MPSGraph* g, long value) {
  return [g constantWithScalar:static_cast<double>(value) dataType:MPSDataTypeInt32];
}

// An array of that shape whose element at i is that of x at from(i).
template <class F>
static Array taken(const Array& x, const Shape& shape, F from) {
  Array y(shape, 0, x.type);
  for_each_index(shape, [&](const Index& i) { y.at(i) = x.at(from(i)); });
  return y;
}

// What is built raises, with a sentence in the name of the op.
template <class F>
static void check_refused(NSString* op, F build) {
  bool is_refused = false;
  @try {
    build();
  } @catch (NSException* exception) {
    is_refused = [[exception name] isEqualToString:NSInvalidArgumentException] && [[exception reason] hasPrefix:op];
  }
  CHECK(is_refused);
}

// Values of one op of one operand by every way to build it, and the gradients of the first.
static void check_op(const Array& x, const Array& y, const std::vector<Build>& builds) {
  for (const Build& build : builds) {
    Session session;
    CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), {session.feed(x)})), y);
  }
  CHECK_GRADIENTS(builds.front(), {x});
}

static void split() {
  const Array x = random_array({3, 5});
  const auto part = [&](long start, long size) {
    return taken(x, {3, size}, [&](Index i) {
      i.at(1) += start;
      return i;
    });
  };
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* tx = session.feed(x);
  NSArray* by_sizes = [g splitTensor:tx splitSizes:numbers({1, 1, 3}) axis:-1 name:nil];
  NSArray* by_tensor = [g splitTensor:tx splitSizesTensor:integers(g, {1, 1, 3}) axis:1 name:nil];
  for (NSArray* parts in @[ by_sizes, by_tensor ]) {
    CHECK([parts count] == 3);
    CHECK_ARRAY_WITHIN(0, session.run([parts objectAtIndex:0]), part(0, 1));
    CHECK_ARRAY_WITHIN(0, session.run([parts objectAtIndex:1]), part(1, 1));
    CHECK_ARRAY_WITHIN(0, session.run([parts objectAtIndex:2]), part(2, 3));
  }
  NSArray* halves = [g splitTensor:tx numSplits:2 axis:1 name:nil];
  CHECK([halves count] == 2);
  CHECK_ARRAY_WITHIN(0, session.run([halves objectAtIndex:0]), part(0, 3));
  CHECK_ARRAY_WITHIN(0, session.run([halves objectAtIndex:1]), part(3, 2));
  NSArray* rows = [g splitTensor:tx numSplits:3 axis:0 name:nil];
  for (long row = 0; row < 3; ++row) {
    CHECK_ARRAY_WITHIN(0, session.run([rows objectAtIndex:static_cast<NSUInteger>(row)]),
                       taken(x, {1, 5}, [&](const Index& i) { return Index{row, i.at(1)}; }));
  }
  const Build build = [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    NSArray* parts = [graph splitTensor:t.at(0) splitSizes:numbers({2, 3}) axis:1 name:nil];
    return [graph concatTensors:@[ [parts objectAtIndex:1], [parts objectAtIndex:0] ] dimension:1 name:nil];
  };
  CHECK_GRADIENTS(build, {x});
  check_refused(@"[split]", [&] { [g splitTensor:tx splitSizes:numbers({1, 3}) axis:1 name:nil]; });
  check_refused(@"[split]", [&] {
    [g splitTensor:tx splitSizesTensor:session.feed(Array({2}, {2, 3}, MPSDataTypeInt32)) axis:1 name:nil];
  });
}

static void stack_and_interleave() {
  const std::vector<Array> parts = {random_array({2, 3}), random_array({2, 3}), random_array({2, 3})};
  for (long axis : {-3, -2, -1, 0, 1, 2}) {
    const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Shape shape = {2, 3};
    shape.insert(shape.begin() + static_cast<long>(at), 3);
    Array y(shape);
    for_each_index(shape, [&](const Index& i) {
      Index from = i;
      from.erase(from.begin() + static_cast<long>(at));
      y.at(i) = parts.at(static_cast<size_t>(i.at(at))).at(from);
    });
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g stackTensors:@[ t.at(0), t.at(1), t.at(2) ] axis:axis name:nil];
    };
    Session session;
    std::vector<MPSGraphTensor*> fed;
    for (const Array& part : parts) fed.push_back(session.feed(part));
    CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), fed)), y);
    CHECK_GRADIENTS(build, parts);
  }
  for (long axis : {0, 1, -1}) {
    const size_t at = static_cast<size_t>(axis < 0 ? axis + 2 : axis);
    const std::vector<Array> some = {parts.at(0), parts.at(1), random_array(at == 0 ? Shape{2, 1} : Shape{1, 3})};
    Shape shape = {2, 3};
    shape.at(at) *= 3;
    Array y(shape);
    for_each_index(shape, [&](Index i) {
      const Index to = i;
      i.at(at) /= 3;
      y.at(to) = broadcast_at(some.at(static_cast<size_t>(to.at(at) % 3)), i);
    });
    const Build build = [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g concatTensors:@[ t.at(0), t.at(1), t.at(2) ] dimension:axis interleave:YES name:nil];
    };
    Session session;
    std::vector<MPSGraphTensor*> fed;
    for (const Array& part : some) fed.push_back(session.feed(part));
    CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), fed)), y);
    CHECK_GRADIENTS(build, some);
  }
  Session session;
  MPSGraphTensor *a = session.feed(parts.at(0)), *b = session.feed(parts.at(1));
  MPSGraphTensor* beside = [session.graph() concatTensors:@[ a, b ] dimension:1 interleave:NO name:nil];
  Array y({2, 6});
  for_each_index(y.shape, [&](const Index& i) {
    y.at(i) = parts.at(static_cast<size_t>(i.at(1) / 3)).at({i.at(0), i.at(1) % 3});
  });
  CHECK_ARRAY_WITHIN(0, session.run(beside), y);
}

static void tile() {
  struct Row {
    Shape shape;
    std::vector<long> repeats;
  };
  for (const Row& row : {Row{{2, 3, 2}, {2, 1, 3}}, Row{{3, 4}, {1, 2}}, Row{{3, 4}, {1, 1}}, Row{{4}, {3}},
                         Row{{2, 1, 3, 2}, {1, 4, 2, 1}}}) {
    const Array x = random_array(row.shape);
    Shape tiled = row.shape;
    for (size_t i = 0; i < tiled.size(); ++i) tiled.at(i) *= row.repeats.at(i);
    const auto source = [&](Index i) {
      for (size_t d = 0; d < i.size(); ++d) i.at(d) %= row.shape.at(d);
      return i;
    };
    check_op(x, taken(x, tiled, source), {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
               return [g tileTensor:t.at(0) withMultiplier:numbers(row.repeats) name:nil];
             }});
    const Array dy = random_array(tiled);
    Array dx(row.shape);
    for_each_index(tiled, [&](const Index& i) { dx.at(source(i)) += dy.at(i); });
    Session session;
    MPSGraphTensor *tdy = session.feed(dy), *tx = session.feed(x);
    CHECK_ARRAY(session.run([session.graph() tileGradientWithIncomingGradientTensor:tdy
                                                                       sourceTensor:tx
                                                                     withMultiplier:numbers(row.repeats)
                                                                               name:nil]),
                dx);
  }
}

static void reverse() {
  const Array x = random_array({3, 2, 4});
  const auto turned = [&](const std::vector<long>& axes) {
    return taken(x, x.shape, [&](Index i) {
      for (long axis : axes) {
        const size_t a = static_cast<size_t>(axis);
        i.at(a) = x.shape.at(a) - 1 - i.at(a);
      }
      return i;
    });
  };
  for (const std::vector<long>& axes : {std::vector<long>{0}, {2, 0}, {1}}) {
    std::vector<long> from_the_end = axes;
    for (long& axis : from_the_end) axis -= 3;
    check_op(x, turned(axes),
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g reverseTensor:t.at(0) axes:numbers(axes) name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g reverseTensor:t.at(0) axes:numbers(from_the_end) name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g reverseTensor:t.at(0) axesTensor:integers(g, axes, MPSDataTypeInt64) name:nil];
              }});
  }
  check_op(
      x, turned({0, 1, 2}),
      {[](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) { return [g reverseTensor:t.at(0) name:nil]; },
       [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) { return [g reverseTensor:t.at(0) axes:@[] name:nil]; }});
}

static void flatten() {
  const Array x = random_array({3, 2, 4});
  const Shape shapes[] = {{1, 24}, {3, 8}, {6, 4}, {24, 1}};
  for (long axis = 0; axis < 4; ++axis) {
    check_op(x, Array(shapes[axis], x.values),
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g flatten2DTensor:t.at(0) axis:axis name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g flatten2DTensor:t.at(0) axisTensor:integer(g, axis) name:nil];
              }});
  }
  Session session;
  check_refused(@"[flatten2d]", [&] { [session.graph() flatten2DTensor:session.feed(x) axis:-1 name:nil]; });
}

static void squeeze_and_expand() {
  const Array x = random_array({1, 3, 1, 2});
  const auto shaped = [&](const Shape& shape) { return Array(shape, x.values); };
  using Tensors = std::vector<MPSGraphTensor*>;
  check_op(x, shaped({3, 2}),
           {[](MPSGraph* g, const Tensors& t) { return [g squeezeTensor:t.at(0) name:nil]; },
            [](MPSGraph* g, const Tensors& t) { return [g squeezeTensor:t.at(0) axes:numbers({2, 0}) name:nil]; },
            [](MPSGraph* g, const Tensors& t) {
              return [g squeezeTensor:t.at(0) axesTensor:integers(g, {0, -2}) name:nil];
            }});
  check_op(x, shaped({1, 3, 2}),
           {[](MPSGraph* g, const Tensors& t) { return [g squeezeTensor:t.at(0) axis:2 name:nil]; },
            [](MPSGraph* g, const Tensors& t) { return [g squeezeTensor:t.at(0) axis:-2 name:nil]; }});
  check_op(x, x, {[](MPSGraph* g, const Tensors& t) { return [g squeezeTensor:t.at(0) axes:@[] name:nil]; }});
  check_op(x, shaped({1, 3, 1, 1, 2}),
           {[](MPSGraph* g, const Tensors& t) { return [g expandDimsOfTensor:t.at(0) axis:3 name:nil]; },
            [](MPSGraph* g, const Tensors& t) { return [g expandDimsOfTensor:t.at(0) axis:-2 name:nil]; }});
  const Array y = random_array({2, 4});
  check_op(y, Array({1, 2, 1, 4}, y.values),
           {[](MPSGraph* g, const Tensors& t) { return [g expandDimsOfTensor:t.at(0) axes:numbers({0, 2}) name:nil]; },
            [](MPSGraph* g, const Tensors& t) {
              return [g expandDimsOfTensor:t.at(0) axesTensor:integers(g, {-2, 0}) name:nil];
            }});
  Session session;
  check_refused(@"[squeeze]", [&] { [session.graph() squeezeTensor:session.feed(x) axis:1 name:nil]; });
}

static void coordinates() {
  const Shape shape = {3, 2, 4};
  for (long axis : {0, 1, 2, -1}) {
    Array y(shape, 0, MPSDataTypeInt32);
    for_each_index(shape, [&](const Index& i) {
      y.at(i) = static_cast<double>(i.at(static_cast<size_t>(axis < 0 ? axis + 3 : axis)));
    });
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor *at = integer(g, axis), *of = [g shapeOfTensor:session.feed(Array(shape)) name:nil];
    CHECK_ARRAY_WITHIN(0, session.run([g coordinateAlongAxis:axis withShape:numbers(shape) name:nil]), y);
    CHECK_ARRAY_WITHIN(0, session.run([g coordinateAlongAxisTensor:at withShape:numbers(shape) name:nil]), y);
    CHECK_ARRAY_WITHIN(0, session.run([g coordinateAlongAxis:axis withShapeTensor:integers(g, shape) name:nil]), y);
    CHECK_ARRAY_WITHIN(0, session.run([g coordinateAlongAxisTensor:at withShapeTensor:of name:nil]), y);
  }
}

// Moves each element of x, of blocks along `axes`, by itself.
static Array moved(const Array& x, const std::vector<long>& axes, size_t batch, const std::vector<long>& block,
                   bool is_shuffled) {
  Shape shape = x.shape;
  long places = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    shape.at(static_cast<size_t>(axes.at(k))) /= block.at(k);
    places *= block.at(k);
  }
  shape.at(batch) *= places;
  Array y(shape);
  for_each_index(x.shape, [&](const Index& i) {
    Index to = i;
    long within = 0;
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t axis = static_cast<size_t>(axes.at(k));
      within = within * block.at(k) + i.at(axis) % block.at(k);
      to.at(axis) /= block.at(k);
    }
    to.at(batch) = is_shuffled ? i.at(batch) * places + within : within * x.shape.at(batch) + i.at(batch);
    y.at(to) = x.at(i);
  });
  return y;
}

static void blocks_of_a_plane() {
  const Array x = random_array({2, 4, 6, 3});
  for (BOOL order : {NO, YES}) {
    const Array y = moved(x, {1, 2}, 3, {2, 2}, order == YES);
    check_op(x, y,
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g spaceToDepth2DTensor:t.at(0)
                                     widthAxis:2
                                    heightAxis:1
                                     depthAxis:static_cast<NSUInteger>(-1)
                                     blockSize:2
                          usePixelShuffleOrder:order
                                          name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g spaceToDepth2DTensor:t.at(0)
                               widthAxisTensor:integer(g, 2)
                              heightAxisTensor:integer(g, 1)
                               depthAxisTensor:integer(g, 3)
                                     blockSize:2
                          usePixelShuffleOrder:order
                                          name:nil];
              }});
    check_op(y, x,
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g depthToSpace2DTensor:t.at(0)
                                     widthAxis:2
                                    heightAxis:1
                                     depthAxis:3
                                     blockSize:2
                          usePixelShuffleOrder:order
                                          name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g depthToSpace2DTensor:t.at(0)
                               widthAxisTensor:integer(g, 2)
                              heightAxisTensor:integer(g, 1)
                               depthAxisTensor:integer(g, -1)
                                     blockSize:2
                          usePixelShuffleOrder:order
                                          name:nil];
              }});
  }
}

static void blocks_of_any_axes() {
  const Array x = random_array({4, 3, 6, 5});
  for (BOOL order : {NO, YES}) {
    const Array y = moved(x, {2, 0}, 3, {3, 2}, order == YES);
    check_op(x, y,
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g spaceToBatchTensor:t.at(0)
                                 spatialAxes:numbers({2, 0})
                                   batchAxis:-1
                             blockDimensions:numbers({3, 2})
                        usePixelShuffleOrder:order
                                        name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g spaceToBatchTensor:t.at(0)
                           spatialAxesTensor:integers(g, {2, 0})
                             batchAxisTensor:integer(g, 3)
                       blockDimensionsTensor:integers(g, {3, 2})
                        usePixelShuffleOrder:order
                                        name:nil];
              }});
    check_op(y, x,
             {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g batchToSpaceTensor:t.at(0)
                                 spatialAxes:numbers({-2, 0})
                                   batchAxis:3
                             blockDimensions:numbers({3, 2})
                        usePixelShuffleOrder:order
                                        name:nil];
              },
              [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g batchToSpaceTensor:t.at(0)
                           spatialAxesTensor:integers(g, {2, 0})
                             batchAxisTensor:integer(g, 3)
                       blockDimensionsTensor:integers(g, {3, 2})
                        usePixelShuffleOrder:order
                                        name:nil];
              }});
  }
}

static void band_part() {
  const Array x = signed_array({2, 5, 4});
  for (const auto& [lower, upper] : {std::pair<long, long>{1, 2}, {-1, 0}, {0, -1}, {0, 0}, {-1, -1}, {2, 1}}) {
    Array y = x;
    for_each_index(x.shape, [&, lower = lower, upper = upper](const Index& i) {
      const long below = i.at(1) - i.at(2);
      if ((lower >= 0 && below > lower) || (upper >= 0 && -below > upper)) y.at(i) = 0;
    });
    check_op(x, y,
             {[lower = lower, upper = upper](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g bandPartWithTensor:t.at(0) numLower:lower numUpper:upper name:nil];
              },
              [lower = lower, upper = upper](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                return [g bandPartWithTensor:t.at(0)
                              numLowerTensor:integer(g, lower)
                              numUpperTensor:integer(g, upper)
                                        name:nil];
              }});
  }
}

static void reinterpret() {
  const Array x({2, 2}, {1, -2, 0.5, 0});
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* tx = session.feed(x);
  MPSGraphTensor* words = [g reinterpretCastTensor:tx toType:MPSDataTypeInt32 name:nil];
  CHECK_ARRAY_WITHIN(0, session.run(words), Array({2, 2}, {1065353216, -1073741824, 1056964608, 0}, MPSDataTypeInt32));
  MPSGraphTensor* bytes = [g reinterpretCastTensor:tx toType:MPSDataTypeUInt8 name:nil];
  CHECK_ARRAY_WITHIN(0, session.run(bytes),
                     Array({2, 8}, {0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63, 0, 0, 0, 0}, MPSDataTypeUInt8));
  CHECK_ARRAY_WITHIN(0, session.run([g reinterpretCastTensor:bytes toType:MPSDataTypeFloat32 name:nil]), x);
  CHECK_ARRAY_WITHIN(0, session.run([g reinterpretCastTensor:words toType:MPSDataTypeInt64 name:nil]),
                     Array({2, 1}, {1065353216.0 - 1073741824.0 * 4294967296.0, 1056964608}, MPSDataTypeInt64));
}

#ifndef __APPLE__  // slices by tensors and updates: declared by SDKs from macOS 14.4 and 15.2 on

// A slice with bounds and masks, of (5, 6), and what it takes.
struct Bounds {
  std::vector<long> starts, ends, strides;
  unsigned start_mask, end_mask, squeeze_mask;
  Shape result;
  std::vector<long> rows, columns;
};

static const Bounds kBounds[] = {
    {{1, 2}, {4, 6}, {1, 2}, 0, 0, 0, {3, 2}, {1, 2, 3}, {2, 4}},
    {{0, 1}, {2, 5}, {1, 2}, 0, 0, 0, {2, 2}, {0, 1}, {1, 3}},  // each end is where one more would be taken
    {{-1, 4}, {0, 1}, {-2, -1}, 0, 1, 0, {3, 3}, {4, 2, 0}, {4, 3, 2}},
    {{3, 1}, {2, 5}, {1, 1}, 1, 0, 0, {2, 4}, {0, 1}, {1, 2, 3, 4}},
    {{2, 1}, {9, 5}, {1, 1}, 0, 0, 1, {4}, {2}, {1, 2, 3, 4}},
};

// Calls f(place in the whole, place in the part).
template <class F>
static void for_each_taken(const Bounds& b, F f) {
  for (size_t r = 0; r < b.rows.size(); ++r) {
    for (size_t c = 0; c < b.columns.size(); ++c) {
      const Index part =
          b.squeeze_mask != 0 ? Index{static_cast<long>(c)} : Index{static_cast<long>(r), static_cast<long>(c)};
      f(Index{b.rows.at(r), b.columns.at(c)}, part);
    }
  }
}

static void slices_by_tensors() {
  const Array x = random_array({5, 6});
  for (const Bounds& b : kBounds) {
    Array y(b.result), dx(x.shape);
    const Array dy = random_array(b.result);
    for_each_taken(b, [&](const Index& whole, const Index& part) {
      y.at(part) = x.at(whole);
      dx.at(whole) = dy.at(part);
    });
    check_op(x, y, {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
               return [g sliceTensor:t.at(0)
                         startTensor:integers(g, b.starts)
                           endTensor:integers(g, b.ends, MPSDataTypeInt64)
                        strideTensor:integers(g, b.strides)
                           startMask:b.start_mask
                             endMask:b.end_mask
                         squeezeMask:b.squeeze_mask
                                name:nil];
             }});
    check_op(dy, dx, {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
               return [g sliceGradientTensor:t.at(0)
                            fwdInShapeTensor:integers(g, {5, 6})
                                 startTensor:integers(g, b.starts)
                                   endTensor:integers(g, b.ends)
                                strideTensor:integers(g, b.strides)
                                   startMask:b.start_mask
                                     endMask:b.end_mask
                                 squeezeMask:b.squeeze_mask
                                        name:nil];
             }});
  }
}

static void slices_by_size() {
  const Array x = random_array({5, 6});
  for (const unsigned squeeze : {0u, 1u}) {
    const long rows = squeeze != 0 ? 1 : 3;
    const Shape shape = squeeze != 0 ? Shape{4} : Shape{3, 4};
    Array y(shape), dx(x.shape);
    const Array dy = random_array(shape);
    for_each_index({rows, 4}, [&](const Index& i) {
      const Index part = squeeze != 0 ? Index{i.at(1)} : i, whole = {i.at(0) + 2, i.at(1) + 1};
      y.at(part) = x.at(whole);
      dx.at(whole) = dy.at(part);
    });
    check_op(x, y, {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
               return [g sliceTensor:t.at(0)
                         startTensor:integers(g, {2, 1})
                          sizeTensor:integers(g, {rows, 4})
                         squeezeMask:squeeze
                                name:nil];
             }});
    check_op(dy, dx, {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
               return [g sliceGradientTensor:t.at(0)
                            fwdInShapeTensor:integers(g, {5, 6})
                                 startTensor:integers(g, {2, 1})
                                  sizeTensor:integers(g, {rows, 4})
                                 squeezeMask:squeeze
                                        name:nil];
             }});
  }
  Session session;
  MPSGraph* g = session.graph();
  check_refused(@"[slice]", [&] {
    [g sliceTensor:session.feed(x)
        startTensor:integers(g, {3, 0})
         sizeTensor:integers(g, {3, 6})
        squeezeMask:0
               name:nil];
  });
}

static void slice_updates() {
  const Array x = random_array({5, 6});
  for (const Bounds& b : kBounds) {
    const Array update = random_array(b.result);
    Array y = x;
    for_each_taken(b, [&](const Index& whole, const Index& part) { y.at(whole) = update.at(part); });
    std::vector<Build> builds = {[&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                                   return [g sliceUpdateDataTensor:t.at(0)
                                                      updateTensor:t.at(1)
                                                            starts:numbers(b.starts)
                                                              ends:numbers(b.ends)
                                                           strides:numbers(b.strides)
                                                         startMask:b.start_mask
                                                           endMask:b.end_mask
                                                       squeezeMask:b.squeeze_mask
                                                              name:nil];
                                 },
                                 [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
                                   return [g sliceUpdateDataTensor:t.at(0)
                                                      updateTensor:t.at(1)
                                                      startsTensor:integers(g, b.starts)
                                                        endsTensor:integers(g, b.ends)
                                                     stridesTensor:integers(g, b.strides)
                                                         startMask:b.start_mask
                                                           endMask:b.end_mask
                                                       squeezeMask:b.squeeze_mask
                                                              name:nil];
                                 }};
    if ((b.start_mask | b.end_mask | b.squeeze_mask) == 0) {
      builds.push_back([&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g sliceUpdateDataTensor:t.at(0)
                           updateTensor:t.at(1)
                                 starts:numbers(b.starts)
                                   ends:numbers(b.ends)
                                strides:numbers(b.strides)
                                   name:nil];
      });
      builds.push_back([&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g sliceUpdateDataTensor:t.at(0)
                           updateTensor:t.at(1)
                           startsTensor:integers(g, b.starts)
                             endsTensor:integers(g, b.ends)
                          stridesTensor:integers(g, b.strides)
                                   name:nil];
      });
    }
    for (const Build& build : builds) {
      Session session;
      CHECK_ARRAY_WITHIN(0, session.run(build(session.graph(), {session.feed(x), session.feed(update)})), y);
    }
    CHECK_GRADIENTS(builds.front(), {x, update});
    // Nothing is left of what was there.
    Session session;
    Array broken = x;
    for_each_taken(
        b, [&](const Index& whole, const Index&) { broken.at(whole) = std::numeric_limits<double>::quiet_NaN(); });
    CHECK_ARRAY_WITHIN(0, session.run(builds.front()(session.graph(), {session.feed(broken), session.feed(update)})),
                       y);
  }
}

#endif

int main() {
  @autoreleasepool {
    split();
    stack_and_interleave();
    tile();
    reverse();
    flatten();
    squeeze_and_expand();
    coordinates();
    blocks_of_a_plane();
    blocks_of_any_axes();
    band_part();
    reinterpret();
#ifndef __APPLE__
    slices_by_tensors();
    slices_by_size();
    slice_updates();
#endif
  }
  return check::summary();
}
