// Ops that cut tensors, put them together, repeat them, turn them around, move blocks of them or tell places, and those
// with bounds or axes in tensors: values by every selector, and what is refused.

#include "graph_testing.h"

static MPSGraphTensor* integer(MPSGraph* g, long value) { return scalar(g, value, MPSDataTypeInt32); }

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

TEST(split) {
  const Array x = random_array({3, 5});
  const auto part = [&](long start, long size) {
    return taken(x, {3, size}, [&](const Index& i) { return Index{i.at(0), i.at(1) + start}; });
  };
  const std::vector<Array> thirds = {part(0, 1), part(1, 1), part(2, 3)}, halves = {part(0, 3), part(3, 2)};
  for (size_t i = 0; i < 3; ++i) {
    CHECK_WAYS(x, thirds.at(i), WAY([[g splitTensor:x splitSizes:numbers({1, 1, 3}) axis:-1 name:nil] objectAtIndex:i]),
               WAY([[g splitTensor:x splitSizesTensor:integers(g, {1, 1, 3}) axis:1 name:nil] objectAtIndex:i]));
    const Array row = taken(x, {1, 5}, [&](const Index& at) { return Index{static_cast<long>(i), at.at(1)}; });
    CHECK_WAYS(x, row, WAY([[g splitTensor:x numSplits:3 axis:0 name:nil] objectAtIndex:i]));
    if (i == 2) continue;
    CHECK_WAYS(x, halves.at(i), WAY([[g splitTensor:x numSplits:2 axis:1 name:nil] objectAtIndex:i]));
  }
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(x), *sizes = session.feed(Array({2}, {2, 3}, MPSDataTypeInt32));
  CHECK([[g splitTensor:tx numSplits:2 axis:1 name:nil] count] == 2);
  check_refused(@"[split]", [&] { [g splitTensor:tx splitSizes:numbers({1, 3}) axis:1 name:nil]; });
  check_refused(@"[split]", [&] { [g splitTensor:tx splitSizesTensor:sizes axis:1 name:nil]; });
}

TEST(stack) {
  const std::vector<Array> parts = {random_array({2, 3}), random_array({2, 3}), random_array({2, 3})};
  for (long axis : {-3, -2, -1, 0, 1, 2}) {
    const long at = axis < 0 ? axis + 3 : axis;
    Shape shape = {2, 3};
    shape.insert(shape.begin() + at, 3);
    Array y(shape);
    for_each_index(shape, [&](const Index& i) {
      Index from = i;
      from.erase(from.begin() + at);
      y.at(i) = parts.at(unsign(i.at(unsign(at)))).at(from);
    });
    CHECK_WAYS(parts.at(0), y,
               WAY([g stackTensors:list(x, constant(g, parts.at(1)), constant(g, parts.at(2))) axis:axis name:nil]));
  }
}

TEST(concatenate_in_turn) {
  const Array first = random_array({2, 3}), second = random_array({2, 3});
  for (long axis : {0, 1, -1}) {
    const size_t at = axis == 0 ? 0 : 1;
    const Array third = random_array(at == 0 ? Shape{2, 1} : Shape{1, 3});  // which broadcasts along the other one
    const Array* parts[] = {&first, &second, &third};
    Shape shape = {2, 3};
    shape.at(at) *= 3;
    Array y(shape);
    for_each_index(shape, [&](Index i) {
      const Index to = i;
      i.at(at) /= 3;
      y.at(to) = broadcast_at(*parts[to.at(at) % 3], i);
    });
    CHECK_WAYS(first, y,
               WAY([g concatTensors:list(x, constant(g, second), constant(g, third))
                          dimension:axis
                         interleave:YES
                               name:nil]));
  }
  Array beside({2, 6});
  for_each_index(beside.shape,
                 [&](const Index& i) { beside.at(i) = (i.at(1) < 3 ? first : second).at({i.at(0), i.at(1) % 3}); });
  CHECK_WAYS(first, beside, WAY([g concatTensors:list(x, constant(g, second)) dimension:1 interleave:NO name:nil]));
}

TEST(tile) {
  struct Row {
    Shape shape;
    std::vector<long> repeats;
  };
  for (const Row& row : {Row{{2, 3, 2}, {2, 1, 3}}, Row{{3, 4}, {1, 1}}, Row{{2, 1, 3, 2}, {1, 4, 2, 1}}}) {
    Shape tiled = row.shape;
    for (size_t i = 0; i < tiled.size(); ++i) tiled.at(i) *= row.repeats.at(i);
    const Array x = random_array(row.shape), dy = random_array(tiled);
    Array y(tiled), dx(row.shape);
    for_each_index(tiled, [&](const Index& i) {
      Index source = i;
      for (size_t d = 0; d < i.size(); ++d) source.at(d) %= row.shape.at(d);
      y.at(i) = x.at(source);
      dx.at(source) += dy.at(i);
    });
    CHECK_WAYS(x, y, WAY([g tileTensor:x withMultiplier:numbers(row.repeats) name:nil]));
    Session session;
    MPSGraphTensor *tdy = session.feed(dy), *tx = session.feed(x);
    CHECK_ARRAY(session.run([session.graph() tileGradientWithIncomingGradientTensor:tdy
                                                                       sourceTensor:tx
                                                                     withMultiplier:numbers(row.repeats)
                                                                               name:nil]),
                dx);
  }
}

TEST(reverse) {
  const Array x = random_array({3, 2, 4});
  const auto turned = [&](const std::vector<long>& axes) {
    return taken(x, x.shape, [&](Index i) {
      for (long axis : axes) i.at(unsign(axis)) = x.shape.at(unsign(axis)) - 1 - i.at(unsign(axis));
      return i;
    });
  };
  for (const std::vector<long>& axes : {std::vector<long>{0}, {2, 0}, {1}}) {
    std::vector<long> from_the_end = axes;
    for (long& axis : from_the_end) axis -= 3;
    CHECK_WAYS(x, turned(axes), WAY([g reverseTensor:x axes:numbers(axes) name:nil]),
               WAY([g reverseTensor:x axes:numbers(from_the_end) name:nil]),
               WAY([g reverseTensor:x axesTensor:integers(g, axes, MPSDataTypeInt64) name:nil]));
  }
  CHECK_WAYS(x, turned({0, 1, 2}), WAY([g reverseTensor:x name:nil]), WAY([g reverseTensor:x axes:@[] name:nil]));
}

TEST(flatten) {
  const Array x = random_array({3, 2, 4});
  const Shape shapes[] = {{1, 24}, {3, 8}, {6, 4}, {24, 1}};
  for (long axis = 0; axis < 4; ++axis) {
    CHECK_WAYS(x, Array(shapes[axis], x.values), WAY([g flatten2DTensor:x axis:axis name:nil]),
               WAY([g flatten2DTensor:x axisTensor:integer(g, axis) name:nil]));
  }
  Session session;
  check_refused(@"[flatten2d]", [&] { [session.graph() flatten2DTensor:session.feed(x) axis:-1 name:nil]; });
}

TEST(squeeze_and_expand) {
  const Array x = random_array({1, 3, 1, 2}), y = random_array({2, 4});
  const auto shaped = [&](const Shape& shape) { return Array(shape, x.values); };
  CHECK_WAYS(x, shaped({3, 2}), WAY([g squeezeTensor:x name:nil]),
             WAY([g squeezeTensor:x axes:numbers({2, 0}) name:nil]),
             WAY([g squeezeTensor:x axesTensor:integers(g, {0, -2}) name:nil]));
  CHECK_WAYS(x, shaped({1, 3, 2}), WAY([g squeezeTensor:x axis:2 name:nil]), WAY([g squeezeTensor:x axis:-2 name:nil]));
  CHECK_WAYS(x, x, WAY([g squeezeTensor:x axes:@[] name:nil]));
  CHECK_WAYS(x, shaped({1, 3, 1, 1, 2}), WAY([g expandDimsOfTensor:x axis:3 name:nil]),
             WAY([g expandDimsOfTensor:x axis:-2 name:nil]));
  CHECK_WAYS(y, Array({1, 2, 1, 4}, y.values), WAY([g expandDimsOfTensor:x axes:numbers({0, 2}) name:nil]),
             WAY([g expandDimsOfTensor:x axesTensor:integers(g, {-2, 0}) name:nil]));
  Session session;
  check_refused(@"[squeeze]", [&] { [session.graph() squeezeTensor:session.feed(x) axis:1 name:nil]; });
}

TEST(coordinates) {
  const Shape shape = {3, 2, 4};
  for (long axis : {0, 1, 2, -1}) {
    Array y(shape, 0, MPSDataTypeInt32);
    for_each_index(shape,
                   [&](const Index& i) { y.at(i) = static_cast<double>(i.at(unsign(axis < 0 ? axis + 3 : axis))); });
    CHECK_WAYS(Array(shape), y, WAY((void)x, [g coordinateAlongAxis:axis withShape:numbers(shape) name:nil]),
               WAY((void)x, [g coordinateAlongAxisTensor:integer(g, axis) withShape:numbers(shape) name:nil]),
               WAY((void)x, [g coordinateAlongAxis:axis withShapeTensor:integers(g, shape) name:nil]),
               WAY([g coordinateAlongAxisTensor:integer(g, axis)
                                withShapeTensor:[g shapeOfTensor:x name:nil]
                                           name:nil]));
  }
}

// Moves each element of x, of blocks along `axes`, by itself.
static Array moved(const Array& x, const std::vector<long>& axes, size_t batch, const std::vector<long>& block,
                   bool is_shuffled) {
  Shape shape = x.shape;
  long places = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    shape.at(unsign(axes.at(k))) /= block.at(k);
    places *= block.at(k);
  }
  shape.at(batch) *= places;
  Array y(shape);
  for_each_index(x.shape, [&](const Index& i) {
    Index to = i;
    long within = 0;
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t axis = unsign(axes.at(k));
      within = within * block.at(k) + i.at(axis) % block.at(k);
      to.at(axis) /= block.at(k);
    }
    to.at(batch) = is_shuffled ? i.at(batch) * places + within : within * x.shape.at(batch) + i.at(batch);
    y.at(to) = x.at(i);
  });
  return y;
}

TEST(blocks_of_a_plane) {
  const Array x = random_array({2, 4, 6, 3});
  for (BOOL order : {NO, YES}) {
    const Array y = moved(x, {1, 2}, 3, {2, 2}, order == YES);
    CHECK_WAYS(x, y,
               WAY([g spaceToDepth2DTensor:x
                                 widthAxis:2
                                heightAxis:1
                                 depthAxis:unsign(-1)
                                 blockSize:2
                      usePixelShuffleOrder:order
                                      name:nil]),
               WAY([g spaceToDepth2DTensor:x
                           widthAxisTensor:integer(g, 2)
                          heightAxisTensor:integer(g, 1)
                           depthAxisTensor:integer(g, 3)
                                 blockSize:2
                      usePixelShuffleOrder:order
                                      name:nil]));
    CHECK_WAYS(y, x,
               WAY([g depthToSpace2DTensor:x
                                 widthAxis:2
                                heightAxis:1
                                 depthAxis:3
                                 blockSize:2
                      usePixelShuffleOrder:order
                                      name:nil]),
               WAY([g depthToSpace2DTensor:x
                           widthAxisTensor:integer(g, 2)
                          heightAxisTensor:integer(g, 1)
                           depthAxisTensor:integer(g, -1)
                                 blockSize:2
                      usePixelShuffleOrder:order
                                      name:nil]));
  }
}

TEST(blocks_of_any_axes) {
  const Array x = random_array({4, 3, 6, 5});
  for (BOOL order : {NO, YES}) {
    const Array y = moved(x, {2, 0}, 3, {3, 2}, order == YES);
    CHECK_WAYS(x, y,
               WAY([g spaceToBatchTensor:x
                             spatialAxes:numbers({2, 0})
                               batchAxis:-1
                         blockDimensions:numbers({3, 2})
                    usePixelShuffleOrder:order
                                    name:nil]),
               WAY([g spaceToBatchTensor:x
                       spatialAxesTensor:integers(g, {2, 0})
                         batchAxisTensor:integer(g, 3)
                   blockDimensionsTensor:integers(g, {3, 2})
                    usePixelShuffleOrder:order
                                    name:nil]));
    CHECK_WAYS(y, x,
               WAY([g batchToSpaceTensor:x
                             spatialAxes:numbers({-2, 0})
                               batchAxis:3
                         blockDimensions:numbers({3, 2})
                    usePixelShuffleOrder:order
                                    name:nil]),
               WAY([g batchToSpaceTensor:x
                       spatialAxesTensor:integers(g, {2, 0})
                         batchAxisTensor:integer(g, 3)
                   blockDimensionsTensor:integers(g, {3, 2})
                    usePixelShuffleOrder:order
                                    name:nil]));
  }
}

TEST(band_part) {
  const Array x = signed_array({2, 5, 4});
  for (const auto& row : {std::pair<long, long>{1, 2}, {-1, 0}, {0, -1}, {-1, -1}, {2, 1}}) {
    const long lower = row.first, upper = row.second;
    Array y = x;
    for_each_index(x.shape, [&](const Index& i) {
      const long below = i.at(1) - i.at(2);
      if ((lower >= 0 && below > lower) || (upper >= 0 && -below > upper)) y.at(i) = 0;
    });
    CHECK_WAYS(x, y, WAY([g bandPartWithTensor:x numLower:lower numUpper:upper name:nil]),
               WAY([g bandPartWithTensor:x
                          numLowerTensor:integer(g, lower)
                          numUpperTensor:integer(g, upper)
                                    name:nil]));
  }
}

TEST(reinterpret) {
  const Array x({2, 2}, {1, -2, 0.5, 0}),
      bytes({2, 8}, {0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63, 0, 0, 0, 0}, MPSDataTypeUInt8);
  CHECK_WAYS(x, bytes, WAY([g reinterpretCastTensor:x toType:MPSDataTypeUInt8 name:nil]));
  CHECK_WAYS(bytes, x, WAY([g reinterpretCastTensor:x toType:MPSDataTypeFloat32 name:nil]));
}

#ifndef __APPLE__  // slices by tensors and updates: declared by SDKs from macOS 14.4 and 15.2 on

// A slice with bounds and masks, of (5, 6), and what it takes.
struct Bounds {
  std::vector<long> starts, ends, strides;
  unsigned start_mask, end_mask, squeeze_mask;
  Shape result;
  std::vector<long> rows, columns;

  bool has_masks() const { return (start_mask | end_mask | squeeze_mask) != 0; }
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

TEST(slices_by_tensors) {
  const Array x = random_array({5, 6});
  for (const Bounds& b : kBounds) {
    Array y(b.result), dx(x.shape);
    const Array dy = random_array(b.result);
    for_each_taken(b, [&](const Index& whole, const Index& part) {
      y.at(part) = x.at(whole);
      dx.at(whole) = dy.at(part);
    });
    CHECK_WAYS(x, y,
               WAY([g sliceTensor:x
                      startTensor:integers(g, b.starts)
                        endTensor:integers(g, b.ends, MPSDataTypeInt64)
                     strideTensor:integers(g, b.strides)
                        startMask:b.start_mask
                          endMask:b.end_mask
                      squeezeMask:b.squeeze_mask
                             name:nil]));
    CHECK_WAYS(dy, dx,
               WAY([g sliceGradientTensor:x
                         fwdInShapeTensor:integers(g, {5, 6})
                              startTensor:integers(g, b.starts)
                                endTensor:integers(g, b.ends)
                             strideTensor:integers(g, b.strides)
                                startMask:b.start_mask
                                  endMask:b.end_mask
                              squeezeMask:b.squeeze_mask
                                     name:nil]));
  }
}

TEST(slices_by_size) {
  const Array x = random_array({5, 6});
  for (const unsigned squeeze : {0u, 1u}) {
    const long rows = squeeze != 0 ? 1 : 3;
    Array y(squeeze != 0 ? Shape{4} : Shape{3, 4}), dx(x.shape);
    const Array dy = random_array(y.shape);
    for_each_index({rows, 4}, [&](const Index& i) {
      const Index part = squeeze != 0 ? Index{i.at(1)} : i, whole = {i.at(0) + 2, i.at(1) + 1};
      y.at(part) = x.at(whole);
      dx.at(whole) = dy.at(part);
    });
    CHECK_WAYS(x, y,
               WAY([g sliceTensor:x
                      startTensor:integers(g, {2, 1})
                       sizeTensor:integers(g, {rows, 4})
                      squeezeMask:squeeze
                             name:nil]));
    CHECK_WAYS(dy, dx,
               WAY([g sliceGradientTensor:x
                         fwdInShapeTensor:integers(g, {5, 6})
                              startTensor:integers(g, {2, 1})
                               sizeTensor:integers(g, {rows, 4})
                              squeezeMask:squeeze
                                     name:nil]));
  }
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *start = integers(g, {3, 0}), *size = integers(g, {3, 6});
  check_refused(@"[slice]",
                [&] { [g sliceTensor:session.feed(x) startTensor:start sizeTensor:size squeezeMask:0 name:nil]; });
}

TEST(slice_updates) {
  const Array whole = random_array({5, 6});
  for (const Bounds& b : kBounds) {
    const Array update = random_array(b.result);
    Array broken = whole, y = whole;  // nothing is left of what was there
    for_each_taken(b, [&](const Index& at, const Index& part) {
      y.at(at) = update.at(part);
      broken.at(at) = std::numeric_limits<double>::quiet_NaN();
    });
    NSArray *starts = numbers(b.starts), *ends = numbers(b.ends), *strides = numbers(b.strides);
    CHECK_WAYS(broken, y,
               WAY([g sliceUpdateDataTensor:x
                               updateTensor:constant(g, update)
                                     starts:starts
                                       ends:ends
                                    strides:strides
                                  startMask:b.start_mask
                                    endMask:b.end_mask
                                squeezeMask:b.squeeze_mask
                                       name:nil]),
               WAY([g sliceUpdateDataTensor:x
                               updateTensor:constant(g, update)
                               startsTensor:integers(g, b.starts)
                                 endsTensor:integers(g, b.ends)
                              stridesTensor:integers(g, b.strides)
                                  startMask:b.start_mask
                                    endMask:b.end_mask
                                squeezeMask:b.squeeze_mask
                                       name:nil]));
    if (b.has_masks()) continue;
    CHECK_WAYS(whole, y,
               WAY([g sliceUpdateDataTensor:x
                               updateTensor:constant(g, update)
                                     starts:starts
                                       ends:ends
                                    strides:strides
                                       name:nil]),
               WAY([g sliceUpdateDataTensor:x
                               updateTensor:constant(g, update)
                               startsTensor:integers(g, b.starts)
                                 endsTensor:integers(g, b.ends)
                              stridesTensor:integers(g, b.strides)
                                       name:nil]));
  }
}

#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
